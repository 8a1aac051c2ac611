import { CodedError, type ErrorCode } from '#contract/errors.ts';
import type { StoredModel, StoredVersion } from '#contract/stored-registry.ts';
import { numberOf } from './find-version.ts';

/** Refusals that several moves share. */

interface Found {
  readonly model: StoredModel;
  readonly version: StoredVersion;
  /** Where the request names it. Default `version`. */
  readonly field?: string;
}

/** The error of a move that a version's state forbids: RES005, or RES006 for an archived version. */
export function refusal(
  code: Extract<ErrorCode, 'RES005' | 'RES006'>,
  { model, version, field = 'version' }: Found,
  message: string,
  context: Readonly<Record<string, unknown>> = {},
): CodedError {
  return new CodedError(code, {
    message,
    field,
    context: {
      model_name: model.model_name,
      version: version.version,
      stage: version.stage,
      current_production: model.production_version,
      ...context,
    },
  });
}

/** Throws RES005 when another version than `expected`, a number or an alias, is in Production; undefined expects nothing. */
export function checkExpectedProduction(model: StoredModel, expected: string | null | undefined): void {
  const number = expected && (numberOf(expected, model) ?? expected);
  if (number === undefined || number === model.production_version) return;
  const told = expected?.slice(0, 100) ?? null;
  throw new CodedError('RES005', {
    message: `${model.production_version === null ? 'No version' : `Version ${model.production_version}`} is in Production, not ${told ?? 'none'}`,
    field: 'expected_production',
    context: { expected_production: told, current_production: model.production_version },
  });
}
