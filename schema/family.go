package schema

// Family are the capabilities that approval brings, by name: those of
// binding.FamilyNames as they are, and as change.prepare, change.apply and
// run.start what is the same of every capability. The result is the caller's.
func Family() map[string]*Capability {
	l := newLoader("change.yaml", defaultLimits(), nil)
	l.names.roots = nil // change and run are reserved for this
	m := l.load([]byte(familyManifest))
	if m == nil {
		panic("schema: the family of approval: " + l.diagnostics()[0].String()) // a mistake in the text below, which a test meets
	}
	built := make(map[string]*Capability, len(m.Capabilities))
	for _, c := range m.Capabilities {
		built[c.Name] = c
	}
	return built
}

// familyManifest is short: a model pays for each word. What the members mean is
// said in docs/reference/manifest.md.
const familyManifest = `
capgen: 1
go: {package: github.com/capgen/capgen/runtime/govern}
server: {name: change, version: "1"}
capabilities:
  - name: change.prepare
    summary: Plan.
    effect: write
    scopes: none
    input:
      type: object
      required: [key]
      properties:
        key: {type: string, minLength: 1, maxLength: 128, description: Idempotency key.}
    output:
      type: object
      required: [plan, hash, token, expires, actions, approval, separation]
      properties:
        plan: {type: string}
        hash: {type: string}
        token: {type: string}
        expires: {type: string, format: date-time}
        actions:
          type: array
          items:
            type: object
            required: [path, action, mode]
            properties:
              path: {type: string}
              action: {type: string}
              before: {type: string}
              after: {type: string}
              mode: {type: string}
        approval: {type: string, description: Command for people.}
        separation: {type: string}
  - name: change.apply
    summary: Land.
    effect: destroy
    scopes: none
    input:
      type: object
      required: [plan, token, key]
      properties:
        plan: {type: string, maxLength: 64}
        token: {type: string, maxLength: 2048}
        key: {type: string, minLength: 1, maxLength: 128, description: Idempotency key.}
        approval: {type: string, maxLength: 128, description: Not needed.}
    output:
      type: object
      required: [plan, state]
      properties:
        plan: {type: string}
        state: {type: string}
        tree: {type: string}
  - name: change.show
    summary: Show one of your plans.
    effect: read
    scopes: none
    search: [pending change, plan details]
    input: {type: object, required: [plan], properties: {plan: {type: string, maxLength: 64}}}
    output:
      type: object
      required: [plan, hash, capability, effect, status, created, expires, arguments, actions, approvals, min, approval, separation]
      properties:
        plan: {type: string}
        hash: {type: string}
        capability: {type: string}
        effect: {type: string}
        status: {type: string}
        reason: {type: string}
        state: {type: string, description: Of its landing.}
        created: {type: string, format: date-time}
        expires: {type: string, format: date-time}
        arguments: {x-opaque: true}
        root: {type: string}
        path: {type: string}
        summary: {type: string}
        actions:
          type: array
          items:
            type: object
            required: [path, action, mode]
            properties:
              path: {type: string}
              action: {type: string}
              before: {type: string}
              after: {type: string}
              mode: {type: string}
        preview: {type: string}
        approvals: {type: integer}
        min: {type: integer}
        approval: {type: string, description: Command for people.}
        separation: {type: string}
  - name: change.list
    summary: List your plans, newest first.
    effect: read
    scopes: none
    search: [pending changes]
    input:
      type: object
      properties:
        status: {type: string, enum: [prepared, consumed, expired, rejected, superseded, cancelled]}
        capability: {type: string, maxLength: 128}
        limit: {type: integer, minimum: 1, maximum: 100, default: 50}
        after: {type: string, maxLength: 64}
    output:
      type: object
      required: [plans]
      properties:
        plans:
          type: array
          items:
            type: object
            required: [plan, capability, status, created, expires]
            properties:
              plan: {type: string}
              capability: {type: string}
              status: {type: string}
              state: {type: string}
              summary: {type: string}
              created: {type: string, format: date-time}
              expires: {type: string, format: date-time}
        next: {type: string}
    pagination: {cursor_in: after, cursor_out: next, items: plans}
  - name: change.status
    summary: Tell how far one of your plans is.
    effect: read
    scopes: none
    search: [approved yet]
    input: {type: object, required: [plan], properties: {plan: {type: string, maxLength: 64}}}
    output:
      type: object
      required: [plan, status, expires, approvals, min]
      properties:
        plan: {type: string}
        status: {type: string}
        reason: {type: string}
        state: {type: string, description: Of its landing.}
        expires: {type: string, format: date-time}
        approvals: {type: integer}
        min: {type: integer}
        tree: {type: string}
        output: {x-opaque: true}
  - name: change.cancel
    summary: Give up one of your plans.
    effect: destroy
    idempotency: natural
    scopes: none
    search: [withdraw plan]
    input:
      type: object
      required: [plan]
      properties:
        plan: {type: string, maxLength: 64}
        reason: {type: string, maxLength: 256}
    output:
      type: object
      required: [plan, status]
      properties:
        plan: {type: string}
        status: {type: string}
  - name: run.start
    summary: Start.
    effect: write
    scopes: none
    input:
      type: object
      required: [plan, token, key]
      properties:
        plan: {type: string, maxLength: 64}
        token: {type: string, maxLength: 2048}
        key: {type: string, minLength: 1, maxLength: 128, description: Idempotency key.}
        approval: {type: string, maxLength: 128, description: Not needed.}
    output:
      type: object
      required: [job, plan, state]
      properties:
        job: {type: string}
        plan: {type: string}
        state: {type: string}
  - name: run.status
    summary: Tell how far one of your jobs is.
    effect: read
    scopes: none
    search: [job finished yet, job progress]
    input: {type: object, required: [job], properties: {job: {type: string, maxLength: 64}}}
    output:
      type: object
      required: [job, plan, capability, state, created, elapsed_seconds]
      properties:
        job: {type: string}
        plan: {type: string}
        capability: {type: string}
        state: {type: string}
        failure: {type: string}
        message: {type: string}
        progress: {type: string, description: "The candidate's own words."}
        created: {type: string, format: date-time}
        started: {type: string, format: date-time}
        ended: {type: string, format: date-time}
        heartbeat: {type: string, format: date-time}
        elapsed_seconds: {type: integer}
        deadline: {type: string, format: date-time}
  - name: run.result
    summary: Read the result of one of your jobs that succeeded.
    effect: read
    scopes: none
    search: [job output, report]
    input: {type: object, required: [job], properties: {job: {type: string, maxLength: 64}}}
    output:
      type: object
      required: [job, state, sha256, result, report]
      properties:
        job: {type: string}
        state: {type: string}
        sha256: {type: string}
        result: {x-opaque: true}
        report: {type: string, description: Markdown.}
  - name: run.logs
    summary: Read the end of the logs of one of your jobs.
    effect: read
    scopes: none
    search: [stdout stderr]
    input:
      type: object
      required: [job]
      properties:
        job: {type: string, maxLength: 64}
        tail_bytes: {type: integer, minimum: 1, maximum: 25000, default: 8000, description: Of each.}
    output:
      type: object
      required: [job, state, logs]
      properties:
        job: {type: string}
        state: {type: string}
        logs:
          type: array
          items:
            type: object
            required: [name, size, truncated, text]
            properties:
              name: {type: string}
              size: {type: integer}
              truncated: {type: boolean}
              text: {type: string, description: "The candidate's own words."}
  - name: run.list
    summary: List your jobs, newest first.
    effect: read
    scopes: none
    search: [running jobs]
    input:
      type: object
      properties:
        state: {type: string, enum: [active, QUEUED, STARTING, RUNNING, CANCEL_REQUESTED, CANCELLED, SUCCEEDED, FAILED, TIMED_OUT, ORPHANED]}
        capability: {type: string, maxLength: 128, description: Its id.}
        limit: {type: integer, minimum: 1, maximum: 100, default: 50}
        after: {type: string, maxLength: 64}
    output:
      type: object
      required: [jobs]
      properties:
        jobs:
          type: array
          items:
            type: object
            required: [job, plan, capability, state, created]
            properties:
              job: {type: string}
              plan: {type: string}
              capability: {type: string}
              state: {type: string}
              failure: {type: string}
              created: {type: string, format: date-time}
              ended: {type: string, format: date-time}
        next: {type: string}
    pagination: {cursor_in: after, cursor_out: next, items: jobs}
  - name: run.cancel
    summary: Ask for the end of one of your jobs.
    effect: destroy
    idempotency: natural
    scopes: none
    search: [stop job, kill job]
    input:
      type: object
      required: [job]
      properties:
        job: {type: string, maxLength: 64}
        reason: {type: string, maxLength: 256}
    output:
      type: object
      required: [job, state, already_ended]
      properties:
        job: {type: string}
        state: {type: string}
        already_ended: {type: boolean}
`
