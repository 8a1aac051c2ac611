import type { RegisteredVersion } from '#contract/backtest.ts';
import type { BacktestConfigRequest } from '#contract/backtest-api.ts';
import type { StoredVersion } from '#contract/stored-registry.ts';
import { requestOver } from '../resolve-config.ts';
import { pinnedUri } from './container-image.ts';

/** What a job that runs a version keeps of it. */
export function registeredOf(version: StoredVersion): RegisteredVersion {
  const { model_name, container_image_uri, image_digest, strategy_digest } = version;
  return { model_name, version: version.version, container_image_uri, image_digest, strategy_digest };
}

/** The registered image, whatever its tag says now; null where it was not resolved. */
export function imageOf({ container_image_uri, image_digest }: StoredVersion): string | null {
  return image_digest && pinnedUri(container_image_uri, image_digest);
}

/** The registered configuration in the place of the strategy's defaults: what a submission gives goes over it. */
export function withRegisteredConfig(
  { config }: StoredVersion,
  given: BacktestConfigRequest,
): BacktestConfigRequest {
  const { date_range: _, ...registered } = config;
  return requestOver(registered, given);
}
