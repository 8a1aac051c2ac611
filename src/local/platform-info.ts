import type { MarketStorageEnv } from '#adapters/open-market-stores.ts';
import type { StoresEnv } from '#adapters/open-stores.ts';
import type { TableNames } from '#contract/values/tables.ts';

/** Tables of the embedded database. */
export const LOCAL_TABLES: TableNames = { jobs: 'Jobs', registry: 'Registry', series: 'Series' };

/** File in the data folder with the addresses of a running platform. */
export const PLATFORM_FILE = 'platform.json';

/** Addresses of a running platform for other local processes; stored in {@link PLATFORM_FILE}. */
export interface PlatformInfo {
  readonly pid: number;
  readonly exchange: string;
  readonly backend_url: string;
  readonly strategy_service_url: string;
  readonly data_collection_url: string;
  /** Base URL of the token issuer's keys; null if calls need no token. */
  readonly issuer_url: string | null;
  readonly storage: StoresEnv & MarketStorageEnv & { readonly DYNAMODB_ENDPOINT: string };
}
