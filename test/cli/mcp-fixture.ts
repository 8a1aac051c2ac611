import { type ChildProcess, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { Client, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

/** Client of a server, the reference implementation of the protocol. */
export interface McpClient {
  readonly client: Client;
  toolNames(): Promise<string[]>;
  /** Text, structured content and error flag of a call. */
  call(
    name: string,
    args?: Record<string, unknown>,
    onprogress?: (progress: { progress: number }) => void,
  ): Promise<{ text: string; data: any; content: any; isError: boolean }>;
}

/** `auto` speaks the newest revision of the protocol, `legacy` the one before 2026 with a handshake. */
export async function connect(transport: Transport, mode: 'auto' | 'legacy' = 'auto'): Promise<McpClient> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  return {
    client,
    toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}, onprogress) => {
      const result = await client.callTool({ name, arguments: args }, onprogress ? { onprogress } : {});
      const content = result.structuredContent as any;
      const [first] = result.content as { text: string }[];
      return { text: first!.text, content, data: content?.data, isError: result.isError === true };
    },
  };
}

/** Server in a process of its own. */
export function stdio(home: string, args: readonly string[], environment: Record<string, string> = {}) {
  return new StdioClientTransport({
    command: process.execPath,
    args: ['bin/touchstone.ts', 'mcp', ...args],
    env: { TOUCHSTONE_HOME: home, TMPDIR: tmpdir(), NO_COLOR: '1', ...environment },
    stderr: 'inherit',
  });
}

/** Server over HTTP in a process of its own, and its address. */
export async function http(
  home: string,
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<{ server: ChildProcess; url: string }> {
  const server = spawn(process.execPath, ['bin/touchstone.ts', 'mcp', '--http', '0', '--json', ...args], {
    env: { TOUCHSTONE_HOME: home, TMPDIR: tmpdir(), ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: server.stdout })) {
    return { server, url: JSON.parse(line).url };
  }
  throw new Error('The server ended without printing its address');
}
