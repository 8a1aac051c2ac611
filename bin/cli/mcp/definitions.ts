import type { AgentTool } from '#contract/operations/agent-tools.ts';
import type { Answer } from './answer.ts';
import { ArgumentError, type Arguments } from './call.ts';

/** Longest description of an argument that is listed whole; a longer one is cut to its first sentence. Characters. */
const MAX_DESCRIPTION = 30;
/** Longest schema of a field of an argument that is listed whole; a longer one is cut to its type. Characters of JSON. */
const MAX_FIELD = 380;

type Json = Readonly<Record<string, unknown>>;

/** Tool that returns what the listed definitions leave out. */
export const DESCRIBE_TOOL = {
  name: 'describe_argument',
  description:
    'Complete schema of an argument: listed ones are shortened, such as `config.ml_engine` of submit_backtest.',
  inputSchema: {
    type: 'object',
    properties: {
      tool: { type: 'string', description: 'Name of the tool' },
      argument: { type: 'string', description: 'Name of the argument; a field of it after a dot' },
    },
    required: ['tool', 'argument'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
} as const;

/** A tool as it is listed: without its title, which its description begins with, and with long arguments shortened. */
export function definitionOf({ name, description, inputSchema, annotations }: AgentTool) {
  return { name, description, inputSchema: shortened(inputSchema as unknown as Json, 0), annotations };
}

function shortened(schema: Json, depth: number): Json {
  const { properties, description, ...rest } = schema;
  const said = typeof description === 'string' && { description: firstSentence(description) };
  // An argument with fields keeps them: without any, a model does not know what it may pass.
  const isCut = depth > 1 || (depth === 1 && !properties);
  if (isCut && JSON.stringify(schema).length > MAX_FIELD) {
    return { ...(schema.type !== undefined && { type: schema.type }), ...said };
  }
  if (!properties) return { ...rest, ...said };
  const fields = Object.entries(properties as Record<string, Json>);
  return {
    ...rest,
    ...said,
    properties: Object.fromEntries(fields.map(([name, field]) => [name, shortened(field, depth + 1)])),
  };
}

function firstSentence(text: string): string {
  const end = text.length > MAX_DESCRIPTION ? text.search(/[.;] /) : -1;
  return end > 0 ? text.slice(0, end) : text;
}

/** @throws ArgumentError for an argument that the tool does not have */
export function describeArgument(tools: ReadonlyMap<string, AgentTool>, args: Arguments): Answer {
  const tool = tools.get(String(args.tool));
  if (!tool) throw new ArgumentError(`tool names no tool of this server: ${JSON.stringify(args.tool)}.`);
  let schema = tool.inputSchema as unknown as Json;
  for (const name of String(args.argument).split('.')) {
    const fields = (schema.properties ?? {}) as Readonly<Record<string, Json>>;
    if (!Object.hasOwn(fields, name)) {
      throw new ArgumentError(
        `${tool.name} has no argument ${JSON.stringify(args.argument)}. Here are: ${Object.keys(fields).join(', ') || 'none'}.`,
      );
    }
    schema = fields[name]!;
  }
  return { data: schema };
}
