import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type Command, Option } from 'commander';
import { SESSION_NAME } from '#contract/values/names.ts';
import type { AgentUse } from '#contract/values/operation.ts';
import type { Caller } from './mcp/call.ts';
import { GROUP_NAMES, type ToolGroup } from './mcp/groups.ts';
import type { Toolbox } from './mcp/server.ts';
import type { Target } from './mcp/target.ts';
import { integer, listOf, UsageError } from './options.ts';
import { type ProgramOptions, userToken } from './session.ts';

interface McpOptions {
  readonly http?: number;
  readonly allow?: 'decide';
  readonly readOnly?: boolean;
  /** Comma-separated groups. */
  readonly tools?: string;
  readonly json?: boolean;
}

export function addMcpCommand(program: Command): void {
  program
    .command('mcp')
    .description('serve the platform to agents, by the Model Context Protocol on standard input and output')
    .option(
      '--http <port>',
      'serve HTTP on 127.0.0.1 instead; 0: any free port',
      integer({ min: 0, max: 65_535 }),
    )
    .addOption(
      new Option(
        '--allow <what>',
        'decide: also tools that register, stage, promote and roll back versions and run challenges',
      ).choices(['decide']),
    )
    .option('--read-only', 'only tools that change nothing')
    .option(
      '--tools <groups>',
      `groups of tools: ${GROUP_NAMES.join(', ')}, or all (default: backtests; with --allow decide also registry,challenges)`,
    )
    .option('--json', 'print the address of --http as JSON')
    .action(async (options: McpOptions) => {
      const uses = usesOf(options);
      const groups = groupsOf(options);
      const { url, strategyUrl, session: named } = program.opts<ProgramOptions>();
      const session = sessionName(named || undefined);
      // Loaded only here: schemas and the protocol take longer to load than other commands to run.
      const { Target } = await import('./mcp/target.ts');
      const { toolboxOf } = await import('./mcp/server.ts');
      const target = new Target(url, strategyUrl, process.env.DATA_COLLECTION_URL);
      const toolbox = toolboxOf(uses, target.services, groups);
      try {
        if (options.http === undefined) await serveStdio(toolbox, target.callerOf(userToken(), session));
        else await serveHttp({ toolbox, session, target, port: options.http }, options.json);
      } finally {
        await target.close();
      }
    });
}

function usesOf({ allow, readOnly }: McpOptions): AgentUse[] {
  if (!readOnly) return allow ? ['read', 'run', 'decide'] : ['read', 'run'];
  if (allow) throw new UsageError('--read-only and --allow exclude each other. Leave one out.');
  return ['read'];
}

function groupsOf({ tools, allow }: McpOptions): readonly ToolGroup[] {
  if (tools === undefined) return allow ? ['backtests', 'registry', 'challenges'] : ['backtests'];
  if (tools === 'all') return GROUP_NAMES;
  const names = listOf(tools);
  const unknown = names.find((name) => !GROUP_NAMES.some((group) => group === name));
  if (unknown === undefined && names.length > 0) return names as ToolGroup[];
  throw new UsageError(
    `--tools ${tools} is not a list of groups of tools. Pass all, or some of ${GROUP_NAMES.join(', ')}, separated by commas.`,
  );
}

/** Longest name to which the digest of a user fits. */
const MAX_SESSION = 51;

function sessionName(session = `mcp-${randomBytes(6).toString('hex')}`): string {
  if (SESSION_NAME.test(session) && session.length <= MAX_SESSION) return session;
  throw new UsageError(
    `--session ${session} is not 1 to ${MAX_SESSION} letters, digits, dots, underscores or hyphens.`,
  );
}

/** Serves one client until it closes its end, or a signal. */
async function serveStdio(toolbox: Toolbox, caller: Caller): Promise<void> {
  const [{ createServer }, protocol] = await Promise.all([
    import('./mcp/server.ts'),
    import('@modelcontextprotocol/server/stdio'),
  ]);
  const ended = Promise.race([once(process.stdin, 'end'), once(process.stdin, 'close'), interrupted()]);
  const serving = protocol.serveStdio(() => createServer(toolbox, caller));
  await ended;
  await serving.close();
}

async function serveHttp(
  options: { toolbox: Toolbox; session: string; target: Target; port: number },
  json = false,
): Promise<void> {
  const { serveHttp: serve } = await import('./mcp/http.ts');
  const server = await serve(options);
  const url = `${server.url}/mcp`;
  console.log(json ? JSON.stringify({ url, session: options.session }) : `MCP server: ${url}`);
  await interrupted();
  await server.close();
}

const interrupted = () => Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
