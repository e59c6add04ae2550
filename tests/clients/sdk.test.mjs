// The TypeScript SDK, version 1, and version 2 in both eras of the protocol, over
// stdio and over HTTP: the same conversation through each.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { converse, withFiles, withServer } from './conversation.mjs';

const negotiate = (mode) => ({ versionNegotiation: { mode } });

for (const { name, Client, Stdio, Http, options, era } of [
  { name: '@modelcontextprotocol/sdk', Client: ClientV1, Stdio: StdioV1, Http: HttpV1 },
  { name: '@modelcontextprotocol/client, with sessions', Client: ClientV2, Stdio: StdioV2, Http: HttpV2, options: negotiate('legacy'), era: 'legacy' },
  { name: '@modelcontextprotocol/client, without', Client: ClientV2, Stdio: StdioV2, Http: HttpV2, options: negotiate('auto'), era: 'modern' },
]) {
  const talk = async (transport) => {
    const client = new Client({ name: 'capgen-clients', version: '1.0.0' }, options);
    await client.connect(transport);
    try {
      if (era) assert.equal(client.getProtocolEra(), era);
      assert.equal(client.getServerVersion().name, 'workspace');
      assert.notEqual(client.getInstructions(), undefined);
      const { tools } = await client.listTools();
      await converse(tools, (tool, args) => client.callTool({ name: tool, arguments: args }));
    } finally {
      await client.close();
    }
  };
  test(`${name} over stdio`, { timeout: 60_000 }, () => withFiles((command) => talk(new Stdio(command))));
  test(`${name} over http`, { timeout: 60_000 }, () =>
    withServer(({ url, token }) => talk(new Http(url, { requestInit: { headers: { Authorization: `Bearer ${token}` } } }))),
  );
}
