import type { ProductionPeriod, ProductionPeriods } from '#contract/registry/registry-api.ts';
import { CodedError } from '#contract/values/errors.ts';
import { MAX_RESPONSE_BYTES } from '#contract/values/request-limits.ts';
import type { Clock } from '../ports.ts';
import { ACCEPTED_TIMES, isoTime, parseTime } from '../shared/iso-time.ts';
import { unknownModel } from '../shared/unknown-resources.ts';
import type { RegistryStore } from '../transitions/registry-store.ts';

/** Bytes of a response around its periods. */
const ROOM_FOR_ENVELOPE = 8_192;

export interface ProductionPeriodsInput {
  readonly model: string;
  readonly at?: string | undefined;
  /** Default: the creation of the model. */
  readonly from?: string | undefined;
  /** Exclusive. Default, and maximum: now. */
  readonly to?: string | undefined;
}

/**
 * The versions in Production over a range, from the history: half-open periods without gaps, oldest first, clipped to the range.
 * Throws RES002, VAL001 (no time, or `from` after `to`), VAL005 (`at` too, or more periods than a response can have), SVC005.
 */
export async function getProductionPeriods(
  { registry, clock }: { readonly registry: RegistryStore; readonly clock: Clock },
  input: ProductionPeriodsInput,
): Promise<ProductionPeriods> {
  if (input.at !== undefined) {
    const message = 'at is a time, from and to are a range: pass one of the two';
    throw new CodedError('VAL005', { message, field: 'at', context: { value: input.at.slice(0, 100) } });
  }
  const now = clock.now();
  const given = { from: timeOf(input, 'from'), to: timeOf(input, 'to') };
  const { model } = await registry.read(input.model, []);
  if (!model) throw unknownModel(input.model);
  const until = Math.min(given.to ?? now, now);
  // A range that ends before the model was created is empty of versions, not an error.
  const start = given.from ?? Math.min(Date.parse(model.created_at), until);
  if (start > until) throw notBefore(input, isoTime(now));
  const [from, to] = [isoTime(start), isoTime(until)];
  return {
    model_name: model.model_name,
    from,
    to,
    periods: await periodsOf(registry, input.model, from, to),
  };
}

/** Periods between two times of one form, ISO 8601 with milliseconds, which sort as strings. */
async function periodsOf(
  registry: Pick<RegistryStore, 'productionChanges'>,
  model: string,
  from: string,
  to: string,
): Promise<ProductionPeriod[]> {
  const periods: ProductionPeriod[] = [];
  let end = to;
  let bytes = 0;
  const add = (period: ProductionPeriod) => {
    bytes += Buffer.byteLength(JSON.stringify(period)) + 1;
    if (bytes > MAX_RESPONSE_BYTES - ROOM_FOR_ENVELOPE) throw tooMany(period.to);
    periods.push(period);
    end = period.from;
  };
  for await (const { production: version, action, actor, reason, at } of registry.productionChanges(
    model,
    to,
  )) {
    const start = at > from ? at : from;
    // Of several changes in one millisecond only the last one began a period.
    if (start < end) add({ version, from: start, to: end, action, actor, reason });
    if (at <= from) break;
  }
  if (from < end) add({ version: null, from, to: end, action: null, actor: null, reason: null });
  return periods.reverse();
}

function timeOf(input: ProductionPeriodsInput, field: 'from' | 'to'): number | undefined {
  const text = input[field];
  if (text === undefined) return undefined;
  const time = parseTime(text);
  if (time !== undefined) return time;
  throw new CodedError('VAL001', {
    message: `${field} must be ${ACCEPTED_TIMES}`,
    field,
    context: { [field]: text.slice(0, 100) },
  });
}

function notBefore({ from, to }: ProductionPeriodsInput, now: string): CodedError {
  return new CodedError('VAL001', {
    message: `from must not be after to, which is at most now: ${now}`,
    field: 'from',
    context: { from, to: to ?? now },
  });
}

function tooMany(to: string): CodedError {
  return new CodedError('VAL005', {
    message: `The range has more periods than a response can have: pass a from that is not before ${to}, then the rest with to`,
    field: 'from',
    context: { min: to },
  });
}
