import type * as z from 'zod';
import { MAX_NOTE_LENGTH } from '#contract/values/registry-limits.ts';
import { MAX_GRANTS, MAX_PRINCIPAL_LENGTH } from '#contract/values/sharing.ts';

/**
 * Part of a request that the audit trail keeps: enough to identify the request, without secrets, of bounded size. What was given to
 * whom, which version and why is kept whole, whatever else a request has.
 */

/** Fields of bodies that are kept whole, with all that they contain: as far as the platform accepts them. */
const WHOLE: ReadonlySet<string> = new Set([
  'shared_with',
  'owner',
  'resource',
  'version',
  'model_version',
  'target_version',
  'champion_version',
  'challenger_version',
  'expected_production',
  'challenge_id',
  'backtest_run_id',
  'run_id',
  'alias',
  'aliases',
  'stage',
  'canary_stage',
  'status',
  'reason',
  'comment',
  'waive',
]);

/** Characters of the parts of a request that are not kept whole. */
const MAX_LENGTH = 3_000;
const KEYS = 40;
const REMOVED = '[removed]';

interface Limits {
  readonly text: number;
  readonly items: number;
  readonly depth: number;
}

/** Fields of them with prose. */
const PROSE: ReadonlySet<string> = new Set(['reason', 'comment']);

/**
 * All that a call can succeed with: longest are principals, and lists of grants. A hundred entries with all of it are below the 6 MB of
 * a response.
 */
const OF_WHOLE: Limits = { text: MAX_PRINCIPAL_LENGTH, items: MAX_GRANTS, depth: 6 };
const OF_PROSE: Limits = { ...OF_WHOLE, text: MAX_NOTE_LENGTH };

/** Limits from long to short: the first one with a summary within the maximum applies. Those of the last one fit any request. */
const LIMITS: readonly Limits[] = [
  { text: 200, items: 20, depth: 6 },
  { text: 60, items: 5, depth: 4 },
  { text: 20, items: 2, depth: 2 },
];

const SECRET_NAME =
  /token|secret|passw|credential|authorization|cookie|session|signature|api_?-?key|private_?-?key|access_?-?key/i;

/**
 * Tokens, AWS keys, secrets of webhooks, PEM files and passwords in URLs, under any name. A word that may hold a token is read once,
 * not from each `eyJ` in it.
 */
const SECRET_VALUE =
  /\bbearer\s|(?<![\w-])(?=[\w-]+\.[\w-]{5})[\w-]*?\beyJ[\w-]{5}|\b(?:AKIA|ASIA)[A-Z0-9]{12,}|\bwhsec_|\bgh[opsu]_\w{20}|\bgithub_pat_|\bglpat-|\bxox[abp]-|-----BEGIN |:\/\/[^/\s]{1,200}@/i;

type Parts = Readonly<Record<'query' | 'body', unknown>>;
type Schemas = Readonly<Partial<Record<'query' | 'body', z.core.$ZodType>>>;

/** JSON of the request as its schemas know it; null for null. */
export function summaryOf(request: Parts | null, { query, body }: Schemas): string | null {
  if (request === null) return null;
  for (const limits of LIMITS) {
    const summary = new Summary(limits);
    const text = JSON.stringify({
      query: summary.shorten(request.query, query, 1),
      body: summary.shorten(request.body, body, 1),
    });
    if (text.length - summary.whole <= MAX_LENGTH || limits === LIMITS.at(-1)) return text;
  }
  return null;
}

class Summary {
  /** Characters of the fields that are kept whole. */
  whole = 0;
  readonly #limits: Limits;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  shorten(
    value: unknown,
    schema: z.core.$ZodType | undefined,
    depth: number,
    limits = this.#limits,
  ): unknown {
    if (typeof value === 'string') {
      const isSecret = !isWhole(limits) && SECRET_VALUE.test(value);
      return isSecret ? REMOVED : plainText(value, limits.text);
    }
    if (typeof value !== 'object' || value === null) return value;
    if (depth > limits.depth) return '…';
    const inner = unwrapped(schema);
    if (Array.isArray(value)) {
      const element = inner && 'element' in inner ? (inner.element as z.core.$ZodType) : undefined;
      // Lists of names are read as sets: a repeated one must not displace those that follow.
      const items = isWhole(limits) ? [...new Set(value)] : value;
      const shown = items
        .slice(0, limits.items)
        .map((each) => this.shorten(each, element, depth + 1, limits));
      return items.length > limits.items ? [...shown, `… ${items.length - limits.items} more`] : shown;
    }
    const shape = inner && 'shape' in inner ? (inner.shape as Readonly<z.core.$ZodShape>) : undefined;
    return shape
      ? this.#known(value as Readonly<Record<string, unknown>>, shape, depth, limits)
      : this.#named(Object.entries(value), depth, limits);
  }

  /** The fields that the schema names. Others do nothing, and are counted only: they must not displace those that do. */
  #known(
    value: Readonly<Record<string, unknown>>,
    shape: Readonly<z.core.$ZodShape>,
    depth: number,
    limits: Limits,
  ): Record<string, unknown> {
    const fields = Object.entries(value).filter(
      ([name, each]) => Object.hasOwn(shape, name) && each !== undefined,
    );
    const shown = fields.map(([name, each]) => {
      if (name === 'url' && typeof each === 'string') return [name, hostOf(each)] as const;
      const inner = limitsOf(name, limits);
      const short = this.shorten(each, shape[name], depth + 1, inner);
      if (isWhole(inner) && !isWhole(limits)) this.whole += JSON.stringify(short).length;
      return [name, short] as const;
    });
    const unknown = Object.keys(value).filter((name) => !Object.hasOwn(shape, name)).length;
    return Object.fromEntries(unknown === 0 ? shown : [...shown, ['…', `${unknown} unknown`]]);
  }

  /** The entries of an object whose keys are data. */
  #named(
    entries: readonly (readonly [string, unknown])[],
    depth: number,
    limits: Limits,
  ): Record<string, unknown> {
    const max = Math.min(KEYS, limits.items * 2);
    const shown = entries.slice(0, max).map(([name, each]): [string, unknown] => {
      const isSecret = SECRET_NAME.test(name) && each !== null;
      return [plainText(name, 60), isSecret ? REMOVED : this.shorten(each, undefined, depth + 1, limits)];
    });
    return Object.fromEntries(
      entries.length > max ? [...shown, ['…', `${entries.length - max} more`]] : shown,
    );
  }
}

/** A URL up to its host: the rest may be the key of a receiver. */
function hostOf(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return REMOVED;
  return plainText(`${parsed.origin}${parsed.pathname === '/' && parsed.search === '' ? '/' : '/…'}`, 200);
}

function limitsOf(name: string, outer: Limits): Limits {
  if (!isWhole(outer) && !WHOLE.has(name)) return outer;
  return PROSE.has(name) ? OF_PROSE : OF_WHOLE;
}

function isWhole(limits: Limits): boolean {
  return limits === OF_WHOLE || limits === OF_PROSE;
}

/** The schema inside of optional ones and defaults. */
function unwrapped(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  let inner = schema;
  while (inner && 'innerType' in inner._zod.def) inner = inner._zod.def.innerType as z.core.$ZodType;
  return inner;
}

/** Up to `max` characters, without control characters, line breaks and bidirectional formatting. */
export function plainText(text: string, max: number): string {
  const cut = text.length > max ? `${text.slice(0, max - 1)}…` : text;
  return cut.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD');
}
