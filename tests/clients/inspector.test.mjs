// The Inspector's command line: a process, and a session, for each request;
// over stdio and over HTTP.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { converse, withFiles, withServer } from './conversation.mjs';

const folder = join(import.meta.dirname, 'node_modules/@modelcontextprotocol/inspector');
const bin = join(folder, JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).bin['mcp-inspector']);

// toolIsError is the exit code for a result with isError.
const toolIsError = 5;

function inspect(target, ...request) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bin, '--cli', ...target, ...request], { stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let log = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (log += text));
    child.on('error', reject);
    child.on('close', (code) => resolve({ out, log, code }));
  });
}

const over = {
  stdio: (use) => withFiles(({ command, args }) => use([command, ...args])),
  http: (use) => withServer(({ url, token }) => use([url.href, '--transport', 'http', '--header', `Authorization: Bearer ${token}`])),
};

for (const [transport, withTarget] of Object.entries(over)) {
  test(`@modelcontextprotocol/inspector --cli over ${transport}`, { timeout: 120_000 }, () =>
    withTarget(async (target) => {
      // --strict fails when the schemas have a portability problem.
      const listed = await inspect(target, '--method', 'tools/list', '--strict');
      assert.equal(listed.code, 0, listed.log);
      await converse(JSON.parse(listed.out).tools, async (tool, args) => {
        const pairs = Object.entries(args).flatMap(([key, value]) => ['--tool-arg', `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`]);
        const called = await inspect(target, '--method', 'tools/call', '--tool-name', tool, ...pairs);
        assert.ok(called.out, called.log);
        const result = JSON.parse(called.out);
        assert.equal(called.code, result.isError ? toolIsError : 0, called.log);
        return result;
      });
    }),
  );
}
