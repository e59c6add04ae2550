// The TypeScript SDK, versions 1 and 2: the same conversation through each.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { converse, withFiles } from './conversation.mjs';

for (const [name, Client, Stdio] of [
  ['@modelcontextprotocol/sdk', ClientV1, StdioV1],
  ['@modelcontextprotocol/client', ClientV2, StdioV2],
]) {
  test(name, { timeout: 60_000 }, () =>
    withFiles(async (command) => {
      const client = new Client({ name: 'capgen-clients', version: '1.0.0' });
      await client.connect(new Stdio(command));
      try {
        assert.equal(client.getServerVersion().name, 'workspace');
        assert.notEqual(client.getInstructions(), undefined);
        const { tools } = await client.listTools();
        await converse(tools, (tool, args) => client.callTool({ name: tool, arguments: args }));
      } finally {
        await client.close();
      }
    }),
  );
}
