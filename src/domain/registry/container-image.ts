import type { RegisteredVersion } from '#contract/backtests/backtest.ts';
import type { BacktestConfigRequest } from '#contract/backtests/backtest-api.ts';
import type { StoredVersion } from '#contract/registry/stored-registry.ts';
import { CodedError } from '#contract/values/errors.ts';
import { REGISTRATION_LIMITS } from '#contract/values/registry-limits.ts';
import { overrideRequest } from '../shared/override-request.ts';

const HOST = String.raw`(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?(?::\d{1,5})?\/)?`;
const NAME = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
/** An image reference as the OCI distribution specification writes it: `[host/]path[:tag][@digest]`. */
export const REFERENCE = new RegExp(
  `^(${HOST}${NAME}(?:/${NAME})*)(?::\\w[\\w.-]{0,127})?(?:@(sha256:[0-9a-f]{64}))?$`,
);
const FIELD = 'container_image_uri';

/** Throws VAL006 unless `uri` is an image reference, VAL005 when its registry is not `allowed` (null: any registry is). */
export function checkImageUri(uri: string, allowed: readonly string[] | null): string {
  if (uri.length > REGISTRATION_LIMITS.container_image_uri || !REFERENCE.test(uri)) {
    throw new CodedError('VAL006', {
      message: `${FIELD} must be an image reference: [registry/]name[:tag][@sha256:digest]`,
      field: FIELD,
      context: { value: uri.slice(0, 100) },
    });
  }
  if (allowed && !allowed.some((prefix) => uri.startsWith(`${prefix}/`))) {
    throw new CodedError('VAL005', {
      message: `${FIELD} must be in an allowed registry`,
      field: FIELD,
      context: { value: uri.slice(0, 100), allowed },
    });
  }
  return uri;
}

/**
 * Digest of the image that `uri` names. If its registry cannot be queried: the digest in `uri`, else null. Null when
 * images are not resolved.
 * Throws VAL005 for an unknown image.
 */
export async function resolveImage(images: ImageRegistry | null, uri: string): Promise<string | null> {
  if (!images) return null;
  const digest = await images.digestOf(uri);
  if (digest) return digest;
  if (digest === null) return REFERENCE.exec(uri)?.[2] ?? null;
  throw new CodedError('VAL005', {
    message: 'Container image not found: check its name, tag and digest',
    field: FIELD,
    context: { value: uri.slice(0, 100) },
  });
}

/** Reference of the image by its digest, which does not change with the tag. */
export function pinnedUri(uri: string, digest: string): string {
  return `${REFERENCE.exec(uri)?.[1] ?? uri}@${digest}`;
}

/** Registry of container images. Null in local mode, which runs the current code for every version. */
export interface ImageRegistry {
  /**
   * `sha256:…` of the image that a reference names now; undefined for an unknown image, null when its
   * registry cannot be queried.
   */
  digestOf(uri: string): Promise<string | null | undefined>;
}

/** Fields of a version that are stored in the job that runs it. */
export function registeredOf(version: StoredVersion): RegisteredVersion {
  const { model_name, container_image_uri, image_digest, strategy_digest } = version;
  return { model_name, version: version.version, container_image_uri, image_digest, strategy_digest };
}

/** The registered image by its digest; null where it was not resolved. */
export function imageOf({ container_image_uri, image_digest, config }: StoredVersion): string | null {
  // A file of signals has no code: the platform's own image runs it, which may read the file.
  if (config.signals !== undefined) return null;
  return image_digest && pinnedUri(container_image_uri, image_digest);
}

/** Setting of a stage whose network is public. */
export interface ImagePolicy {
  /** True where images of registered versions may not run. @default false */
  readonly rejectImages?: boolean;
}

/** The image, or null for the platform's own. Throws VAL005 where images of others may not run. */
export function checkImageRuns(
  { rejectImages }: ImagePolicy,
  image: string | null,
  field: string,
): string | null {
  if (image === null || !rejectImages) return image;
  throw new CodedError('VAL005', {
    message:
      'The version has a registered image, and this stage runs none: its network is public, so the code of the image would reach the internet. Ask an operator to set network to isolated, or allowForeignImages to true',
    field,
    context: { value: image },
  });
}

/** The registered configuration instead of the strategy's defaults; values of the submission override it. */
export function withRegisteredConfig(
  { config }: StoredVersion,
  given: BacktestConfigRequest,
): BacktestConfigRequest {
  const { date_range: _, ...registered } = config;
  return overrideRequest(registered, given);
}
