import { toolName } from '#contract/operations/agent-tools.ts';
import { ApiError } from '../client.ts';
import { escapeControlChars } from '../output.ts';
import { ArgumentError, WithheldError } from './call.ts';
import { compact } from './compact.ts';

/** The next sensible call. */
export interface NextCall {
  /** Operation ID, or the name of a tool that is no operation. */
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly why: string;
}

/** What a tool returns, before it is shortened. */
export interface Answer {
  readonly data: unknown;
  /** What the numbers do not show, one sentence each. */
  readonly caveats?: readonly string[];
  readonly next?: readonly NextCall[];
}

/** Result of a tool call as the protocol has it. */
export interface ToolResult {
  readonly [key: string]: unknown;
  readonly content: { readonly type: 'text'; readonly text: string }[];
  readonly structuredContent: Record<string, unknown>;
  readonly isError?: true;
}

/**
 * The answer in short. Data is JSON, so a name or note that somebody wrote is a quoted string and cannot look like a caveat or a
 * call that this server suggests.
 *
 * @param offered names of the tools that the client may call
 */
export function resultOf(
  { data, caveats = [], next = [] }: Answer,
  offered: ReadonlySet<string>,
): ToolResult {
  const { value, omitted } = compact(data);
  const calls = next
    .map((call) => ({ ...call, tool: toolName(call.tool) }))
    .filter(({ tool }) => offered.has(tool));
  const lines = [
    JSON.stringify(value),
    ...(omitted.length > 0 ? [`Left out: ${omitted.join('; ')}. Narrow the call to see more.`] : []),
    ...section('Caveats', caveats.map(escapeControlChars)),
    ...section(
      'Next',
      calls.map(({ tool, arguments: args, why }) => `${tool} ${JSON.stringify(args)}: ${why}`),
    ),
  ];
  return {
    content: [{ type: 'text', text: lines.join('\n') }],
    structuredContent: {
      data: value,
      ...(omitted.length > 0 && { omitted }),
      ...(caveats.length > 0 && { caveats }),
      ...(calls.length > 0 && { next: calls }),
    },
  };
}

const section = (title: string, lines: readonly string[]) =>
  lines.length > 0 ? [`${title}:`, ...lines.map((line) => `- ${line}`)] : [];

/** Tool that lists what an ID or a name of a request should have been, by the code of the error. */
const LISTS: Readonly<Record<string, string>> = {
  RES001: 'listBacktests',
  RES002: 'listStrategies',
  RES004: 'listStrategies',
  OPT001: 'listHyperopts',
  CHL001: 'listAllChallenges',
  COL001: 'listCollections',
  DATA003: 'getDataStatus',
};

/** A rejected or failed call: code, message and what to do. */
export function errorResult(error: unknown, offered: ReadonlySet<string>): ToolResult {
  const message = escapeControlChars(error instanceof Error ? error.message : String(error));
  const [, code = ''] = /^([A-Z]{3,4}\d{3}): /.exec(message) ?? [];
  const context = error instanceof ApiError ? compact(error.context).value : undefined;
  const hasContext = context !== undefined && Object.keys(context as object).length > 0;
  const advice = adviceOn(code, error, offered);
  return {
    content: [
      {
        type: 'text',
        text: [message, ...(hasContext ? [JSON.stringify(context)] : []), advice].join('\n'),
      },
    ],
    structuredContent: {
      error: {
        ...(code && { code }),
        message,
        ...(hasContext && { context }),
        ...(error instanceof ApiError && error.correlationId && { correlation_id: error.correlationId }),
        advice,
      },
    },
    isError: true,
  };
}

function adviceOn(code: string, error: unknown, offered: ReadonlySet<string>): string {
  const list = toolName(LISTS[code] ?? '');
  if (offered.has(list)) return `What exists: ${list}.`;
  if (error instanceof WithheldError) return 'Do not repeat the call. Ask a person.';
  if (code.startsWith('AUTH'))
    return 'A person must give this server another token or role. Do not repeat the call.';
  if (code.startsWith('SVC') || code === 'HTTP429')
    return 'Repeat the call, up to three times with increasing delay.';
  if (error instanceof ApiError || error instanceof ArgumentError)
    return 'Correct the arguments before you repeat the call.';
  return 'Repeat the call once. If it fails again, ask the person who runs the platform.';
}
