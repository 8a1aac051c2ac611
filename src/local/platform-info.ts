import type { StorageEnv } from '#adapters/open-stores.ts';

/** File in the data folder that tells how a running platform is reached. */
export const PLATFORM_FILE = 'platform.json';

/** Addresses of a running platform for other local processes; stored in {@link PLATFORM_FILE}. */
export interface PlatformInfo {
  readonly pid: number;
  readonly exchange: string;
  readonly backend_url: string;
  readonly strategy_service_url: string;
  readonly data_collection_url: string;
  /** Where the keys of tokens are served; null where no token is needed. */
  readonly issuer_url: string | null;
  readonly storage: StorageEnv & { readonly DYNAMODB_ENDPOINT: string };
}
