import { CodedError } from '#contract/errors.ts';
import type { ProductionAt } from '#contract/registry-api.ts';
import type { RegistryEvent } from '#contract/stored-registry.ts';
import type { Clock, Page } from '../ports.ts';
import { ACCEPTED_TIMES, isoTime, parseTime } from '../validate.ts';
import { unknownModel } from './find-version.ts';
import type { RegistryStore } from './registry-store.ts';

/** One page of what happened to a model, newest first. Throws RES002, VAL006 for a broken or foreign cursor, SVC005. */
export async function readHistory(
  { registry }: { readonly registry: RegistryStore },
  input: { readonly model: string; readonly limit: number; readonly cursor: string | null },
): Promise<Page<RegistryEvent>> {
  const page = await registry.history(input.model, input.limit, input.cursor);
  // Every model has the event of its first registration: an empty first page is of none.
  if (page.items.length === 0 && input.cursor === null) throw unknownModel(input.model);
  return page;
}

/** Which version was in Production at a time (default now). Throws RES002, VAL005 for what is no time or in the future, SVC005. */
export async function productionAt(
  { registry, clock }: { readonly registry: RegistryStore; readonly clock: Clock },
  input: { readonly model: string; readonly at?: string | undefined },
): Promise<ProductionAt> {
  const time = input.at === undefined ? clock.now() : parseTime(input.at);
  if (time === undefined) {
    throw new CodedError('VAL005', {
      message: `at must be a time: ${ACCEPTED_TIMES}`,
      field: 'at',
      context: { value: input.at },
    });
  }
  if (time > clock.now()) {
    const context = { value: input.at, max: isoTime(clock.now()) };
    throw new CodedError('VAL005', { message: 'at must not lie in the future', field: 'at', context });
  }
  const at = isoTime(time);
  const [{ model }, event] = await Promise.all([
    registry.read(input.model, []),
    registry.eventAt(input.model, at),
  ]);
  if (!model) throw unknownModel(input.model);
  return { model_name: model.model_name, at, version: event?.production ?? null };
}
