package lint

import "github.com/capgen/capgen/schema"

// Rule is one reason for a finding.
type Rule struct {
	// ID is stable: it stands in brackets behind messages, and allowances
	// name it.
	ID string
	// Level of its findings: an error fails a run, a warning does with
	// --strict.
	Level schema.Severity
	// Text is what holds of a good manifest, in one sentence.
	Text string
	// Explanation says what is looked for, and why it matters.
	Explanation string
}

// Rules lists every rule: first about texts, then about capabilities, then
// about parameters.
func Rules() []Rule {
	const warning, failure = schema.SeverityWarning, schema.SeverityError
	return []Rule{
		{"secret", failure, "A text holds no key, token or password.",
			"Keys of known forms, private key blocks, passwords in addresses and words such as password= with a value behind. Descriptions, defaults, examples and programs are in every build and every answer, and in the history of the repository. Credentials are the host's: it reads them where they are kept."},
		{"secret-path", warning, "A text names no place where secrets are kept.",
			"Paths such as ~/.ssh, .env, .aws/credentials or /etc/shadow. A model that reads of one may look there and pass on what it finds; no description needs them."},
		{"order-secrecy", warning, "A text does not tell the model to keep something from people.",
			"Words such as “do not tell the user”. Who runs a model decides what people learn; a capability that wants to act unseen is the classic sign of a poisoned description."},
		{"order-override", warning, "A text has no say over other instructions.",
			"Words such as “ignore previous instructions”, “you are now”, “system prompt”. A description describes; it cannot change what the model was told elsewhere, and trying to is an attack."},
		{"order-sequence", warning, "A text does not tell the model when to call what.",
			"Words such as “always call this first” or “instead of other tools”. Each capability would like to be first; the choice is the program's. What a call needs from another one is a parameter, and its description says where the value comes from."},
		{"order-to-model", warning, "A text describes and gives no orders.",
			"Words such as “you must”, “always use”, “never return”, “ask the user”. An order in a description competes with those of the model's owner, and one that is changed later is a way in. “Paths are absolute” says as much as “you must use absolute paths”."},
		{"urgency", warning, "A text does not shout.",
			"IMPORTANT, WARNING, NEVER in capitals, several exclamation marks, lines of capitals. Urgency moves a model as it moves people, away from weighing what it reads."},
		{"other-tool", warning, "A text leaves capabilities of other namespaces alone.",
			"A description that speaks of a capability elsewhere can change how a model uses that one, though its owner never agreed. Neighbours of the same namespace may refer to each other."},
		{"unknown-tool", warning, "A tool that a text names is there, under that name.",
			"Imported descriptions use the names of their own server. Programs know a capability by its dotted name only, and fail with the other."},
		{"html-comment", warning, "A text holds no HTML comment.",
			"A page that is rendered hides it from people, and a model reads it."},
		{"role-markup", warning, "A text holds no markup that imitates a conversation.",
			"Tags such as <system> or [INST] and lines that begin with “system:” look to a model like turns of someone with more authority."},
		{"unreadable-text", warning, "A text holds only characters that a reader sees.",
			"Zero-width, bidirectional, tag and control characters are errors that generate reports too (invisible-text, bad-text). This rule adds variation selectors, fillers and blanks that look like nothing."},
		{"mixed-script", warning, "A word is written in one script.",
			"A Cyrillic or Greek letter in a Latin word looks right to a reviewer and is another word to a model, to search and to policies."},
		{"encoded-text", warning, "A text holds no long run of encoded text.",
			"A hundred characters of base64 or the like cannot be reviewed, and some models decode them."},
		{"long-text", warning, "A text has at most 1,000 characters.",
			"A model reads all of it before each use, and people review all of it after each change. What is long is usually a manual, or orders."},
		{"placeholder", warning, "A text is written.",
			"It is a word that stands for a text to come."},
		{"undeclared-host", warning, "A text or a default names no host but those that are declared.",
			"An address in a description is where a model may send something; one in a default is where a handler will. Hosts that a deployment holds a credential for are declared; reserved names such as example.com and this machine are fine. Allow an address of documentation with a reason."},
		{"interpolation", warning, "A default or a fixed value is written out.",
			"Nothing fills in ${NAME} or {{name}}: the handler gets these characters. Credentials are given to the host, and never go through a contract."},
		{"missing-description", warning, "A capability whose summary is short has a description.",
			"A summary of three words repeats the name. The description says what comes back, what is left out, and when another capability serves better."},
		{"missing-parameter-description", warning, "Every parameter has a description.",
			"A model guesses the unit, the form and the meaning of what nobody tells it. The description of a named type, a title or a single possible value count too."},
		{"missing-enum-description", warning, "An enum has a description.",
			"Its values are words that seem to explain themselves; two people rarely explain them alike."},
		{"missing-search", warning, "A capability has search phrases.",
			"Agents find capabilities by words, and rarely by those of the summary. docs/how-to/write-search-phrases.md says how to choose them."},
		{"duplicate-summary", warning, "No two capabilities have the same summary.",
			"Search shows summaries: of two alike the model takes either."},
		{"shared-search-phrase", warning, "A search phrase leads to one capability.",
			"The same phrase on two capabilities decides nothing between them."},
		{"confusable-names", warning, "Names differ in more than underscores.",
			"a.get_item and a.getitem are told apart by nobody who reviews a call."},
		{"name-repeats-namespace", warning, "A name does not repeat its namespace.",
			"Programs write records.lookup; records.lookup_record and records.record_lookup say it twice."},
		{"vague-name", warning, "A name says what is done.",
			"do, run, handle or process say nothing to a model, to a policy, or to who reads an audit log."},
		{"mixed-parameter-names", warning, "The parameters of a capability are written in one way.",
			"A program that has to know where userId ends and user_name begins gets one of them wrong."},
		{"read-that-changes", warning, "Effect read goes with a name that only looks.",
			"Effect read is what hosts and people wave through. A name that begins or ends in create, send or delete says otherwise, and one of the two is wrong."},
		{"write-that-destroys", warning, "Effect write goes with a name that can be put back.",
			"Write adds, or changes what can be put back. Delete, purge, overwrite and the like are destroy."},
		{"effect-below-claim", warning, "An effect is at least what the server claims of its tool.",
			"A server that says that its own tool changes or destroys something has no reason to exaggerate."},
		{"no-scope", warning, "What changes something, or touches systems outside, needs a scope.",
			"Without a scope every subject may call it, and only policy is left to tell them apart."},
		{"self-approved", warning, "Who asks does not approve.",
			"With self: allow the account that runs the server can approve what its own agent asks for, and an agent with a shell is that account. It is for trials and for one person's own machine."},
		{"unconfined-run", warning, "Candidate code runs in a sandbox.",
			"With sandbox: none a run has the files, the network and the other processes of the account that it runs as. Reviewing code finds what it says, and rarely all that it does."},
		{"unbounded-input", warning, "Strings, lists and maps of an input have bounds of their own.",
			"The default caps are 1,048,576 code points and 10,000 items, so that a size can be computed. They are no statement of what a handler can take: a name, a query, a list of ids are far smaller."},
		{"opaque", warning, "A value whose shape is known is not opaque.",
			"Nothing checks what is in it, policies see nothing of its structure, and programs read it without types. Outputs of imported capabilities are opaque because their schemas are not binding, and are passed over."},
		{"self-confirmed", warning, "A program does not confirm its own call.",
			"A parameter such as confirm is set by whoever makes the call. It only teaches the model to say yes."},
		{"credential-parameter", warning, "A credential is no parameter.",
			"A model that passes a password or token has read it, and so has everything that logs calls. The host holds credentials, by subject where need be."},
		{"frozen-credential", failure, "A credential is no part of a plan.",
			"A plan freezes its arguments as they are: they are stored, hashed, and shown to those who approve. What stands for a credential is its name in the host."},
		{"identity-parameter", warning, "A parameter does not say who calls.",
			"Who calls is known from the connection. An identity in the arguments is a claim of the program, and a handler that believes it has no authorization left."},
		{"deprecated-without-use", warning, "What is deprecated names what to take instead.",
			"Programs that still use it are told when it goes, and not where to."},
		{"unused-allowance", failure, "An allowance accepts something.",
			"It names a rule or a thing that is not there, or what it accepted is gone. Left where it is, it would hide the next finding."},
	}
}

func ids() []string {
	var all []string
	for _, r := range Rules() {
		all = append(all, r.ID)
	}
	return all
}
