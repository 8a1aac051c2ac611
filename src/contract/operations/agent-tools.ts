import * as z from 'zod';
import type { AgentUse, Operation, ServiceName } from '../values/operation.ts';
import { withoutSafeRange } from './openapi-schemas.ts';
import { OPERATIONS } from './operations.ts';

type Json = Record<string, unknown>;

/** An operation as a tool of the Model Context Protocol. */
export interface AgentTool {
  readonly operation: Operation;
  readonly use: AgentUse;
  /** Operation ID in snake_case, for example `submit_backtest`. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** JSON schema of the arguments: path, query and body in one object, without references. */
  readonly inputSchema: {
    readonly type: 'object';
    readonly properties: Readonly<Record<string, Json>>;
    readonly required?: readonly string[];
    readonly additionalProperties: false;
  };
  readonly annotations: Readonly<Record<`${'readOnly' | 'destructive' | 'idempotent'}Hint`, boolean>>;
}

/** Rows of a page that a tool returns: a longer one fills the context of a model. */
export const MAX_AGENT_ROWS = 20;

/** Tools of the operations with one of these uses, of the services that can be reached. */
export function agentTools(
  uses: readonly AgentUse[],
  services: readonly ServiceName[] = ['backend', 'strategy', 'data_collection'],
): AgentTool[] {
  const rows: readonly Operation[] = OPERATIONS;
  return rows.flatMap((operation) => {
    const { agent: use, service } = operation;
    return use && uses.includes(use) && services.includes(service) ? [toolOf(operation, use)] : [];
  });
}

export const toolName = (operationId: string) =>
  operationId.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function toolOf(operation: Operation, use: AgentUse): AgentTool {
  const { id, summary, description, method } = operation;
  return {
    operation,
    use,
    name: toolName(id),
    title: summary,
    description: [`${summary}.`, description].filter(Boolean).join(' '),
    inputSchema: inputOf(operation),
    annotations: {
      readOnlyHint: use === 'read',
      destructiveHint: use === 'decide' || id.startsWith('cancel'),
      idempotentHint: method !== 'POST',
    },
  };
}

/**
 * Arguments by name; no name occurs twice in path, query and body. Fields that need a higher role than the operation, such as
 * `skip_validation`, are exceptions that a person makes: a tool does not have them.
 */
function inputOf({ params, query, body, fieldRoles = {} }: Operation): AgentTool['inputSchema'] {
  const properties: Record<string, Json> = {};
  const required: string[] = [];
  for (const schema of [params, query]) {
    if (!schema) continue;
    // The output side: what the string is read as, with its bounds and default.
    Object.assign(properties, propertiesOf(schema, 'output').properties);
    const names = Object.keys(schema.shape);
    required.push(
      ...names.filter((name) => !z.safeParse(schema.shape[name] as z.ZodType, undefined).success),
    );
  }
  if (body) {
    const { properties: fields, required: needed = [] } = propertiesOf(body, 'input');
    Object.assign(properties, fields);
    required.push(...needed);
  }
  for (const name of Object.keys(fieldRoles)) delete properties[name];
  if (properties.limit) Object.assign(properties.limit, { maximum: MAX_AGENT_ROWS, default: MAX_AGENT_ROWS });
  return {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

interface ObjectSchema {
  readonly properties: Record<string, Json>;
  readonly required?: readonly string[];
}

function propertiesOf(schema: z.ZodType, io: 'input' | 'output'): ObjectSchema {
  const { $defs = {}, ...root } = z.toJSONSchema(schema, { io, override: withoutSafeRange }) as Json & {
    $defs?: Record<string, Json>;
  };
  return inlined(root, $defs) as ObjectSchema;
}

/** The schema with definitions in the places of their references: not every client resolves them. */
function inlined(value: unknown, definitions: Readonly<Record<string, Json>>): unknown {
  if (Array.isArray(value)) return value.map((each) => inlined(each, definitions));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, ...rest } = value as Json;
  const target = typeof $ref === 'string' ? definitions[$ref.replace('#/$defs/', '')] : undefined;
  const entries = Object.entries({ ...target, ...rest }).filter(
    // Schemas that accept anything: they say nothing.
    ([key, each]) => !SILENT.has(key) || Object.keys(each as object).length > 0,
  );
  return Object.fromEntries(entries.map(([key, each]) => [key, inlined(each, definitions)]));
}

const SILENT = new Set(['additionalProperties']);
