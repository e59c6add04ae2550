// The conversation that every client has with bin/workspace, and what it must
// hear. A client is a function call(tool, arguments) that resolves to the
// result of tools/call; how it got there is the client's own matter.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Ajv } from 'ajv';

const server = resolve(import.meta.dirname, '../../bin/workspace');

// The texts hold what a byte-wise client would get wrong.
const files = { 'a.go': 'package a\n', 'sub/b.go': 'package b\n\n// größer 😀\n', 'c.txt': 'c' };

// withFiles runs use with the command of a server over a few files, to be run
// over stdio.
export const withFiles = (use) => withRoot((root) => use({ command: server, args: ['stdio', '--root', root, '--log-level', 'error'] }));

// withServer runs use with the URL and the token of a server over the same
// files that listens, and that must end in good order.
export const withServer = (use) =>
  withRoot(async (root) => {
    const token = randomUUID();
    const args = ['http', '--root', root, '--listen', '127.0.0.1:0', '--log-format', 'json'];
    const child = spawn(server, args, { env: { ...process.env, CAPGEN_TOKEN: token }, stdio: ['ignore', 'inherit', 'pipe'] });
    const closed = new Promise((resolve) => child.on('close', resolve));
    try {
      let log = '';
      const url = await new Promise((resolve, reject) => {
        child.on('error', reject);
        child.on('close', () => reject(new Error(log)));
        child.stderr.setEncoding('utf8').on('data', (text) => {
          log += text;
          const said = /"url":"([^"]+)"/.exec(log);
          if (said) resolve(new URL(said[1]));
        });
      });
      await use({ url, token });
    } finally {
      child.kill('SIGTERM');
    }
    assert.equal(await closed, 0);
  });

async function withRoot(use) {
  const root = mkdtempSync(join(tmpdir(), 'capgen-clients-'));
  try {
    mkdirSync(join(root, 'sub'));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
    await use(root);
  } finally {
    rmSync(root, { recursive: true });
  }
}

const reading = `
def main():
    paths = [e.path for e in files.tree(include = ["*.go"]).entries]
    return {f.path: f.text for f in files.read(paths = paths).files}
`;

const wide = `
def main():
    return [9007199254740993, 0.5, None, {"a": True}]
`;

// The first call is done when the second is refused by the capability.
const failing = `
def main():
    files.list()
    return files.read(paths = [])
`;

// A limit ends it, after a call that was done.
const endless = `
def main():
    files.list()
    while True:
        pass
`;

// converse makes every call and checks every answer, failures included,
// against the output schema that tools/list gave the client.
export async function converse(tools, call) {
  assert.deepEqual(tools.map((t) => t.name).sort(), ['describe_api', 'execute', 'search_api']);
  const ajv = new Ajv({ strict: false });
  const schemas = new Map(tools.map((t) => [t.name, ajv.compile(t.outputSchema)]));

  const ask = async (tool, args, { fails = false } = {}) => {
    const result = await call(tool, args);
    const content = result.structuredContent;
    assert.equal(Boolean(result.isError), fails, JSON.stringify(content));
    const valid = schemas.get(tool);
    assert.ok(valid(content), `${tool}: ${ajv.errorsText(valid.errors)}: ${JSON.stringify(content)}`);
    assert.deepEqual(result.content.map((c) => c.type), ['text']);
    assert.deepEqual(JSON.parse(result.content[0].text), content, 'the text is another value');
    return { content, meta: result._meta };
  };

  const found = await ask('search_api', { query: 'read many files at once' });
  assert.equal(found.content.results[0].name, 'files.read');

  const described = await ask('describe_api', { names: ['files.read', 'files.raed'] });
  assert.deepEqual(described.content.capabilities.map((c) => [c.name, c.effect]), [['files.read', 'read']]);
  assert.deepEqual(described.content.not_found, ['files.raed']);

  const read = await ask('execute', { source: reading });
  assert.deepEqual(read.content, { result: { 'a.go': files['a.go'], 'sub/b.go': files['sub/b.go'] } });
  assert.deepEqual(read.meta['capgen/receipt'].calls.map((c) => [c.name, c.state]), [['files.tree', 'done'], ['files.read', 'done']]);

  const exact = await ask('execute', { source: wide });
  assert.deepEqual(exact.content.result, ['9007199254740993', 0.5, null, { a: true }]);
  assert.equal(exact.content.receipt.notes.length, 1);

  const failed = await ask('execute', { source: failing }, { fails: true });
  const { class: kind, capability, code, line } = failed.content.error;
  assert.deepEqual({ kind, capability, code, line }, { kind: 'capability_failed', capability: 'files.read', code: 'invalid', line: 4 });
  assert.deepEqual(failed.content.receipt.calls.map((c) => [c.name, c.state]), [['files.list', 'done'], ['files.read', 'failed']]);

  const limited = await ask('execute', { source: endless, idempotency_key: 'once' }, { fails: true });
  assert.deepEqual([limited.content.error.class, limited.content.error.limit, limited.content.error.bound], ['resource_limit', 'MaxSteps', 50_000_000]);
  assert.match(limited.content.error.message, /MaxSteps is 50000000/);
  const [listed, ...others] = limited.content.receipt.calls;
  assert.deepEqual([listed.sequence, listed.id, listed.state, others.length], [1, 'files.list', 'done', 0]);
  assert.ok(Number.isInteger(listed.duration_us) && listed.duration_us >= 0 && limited.content.receipt.steps > 0);

  const refused = await ask('describe_api', {}, { fails: true });
  assert.equal(refused.content.error.class, 'invalid_arguments');
}
