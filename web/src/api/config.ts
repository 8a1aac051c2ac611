import type { WebConfig } from '#contract/values/web-config.ts';

let config: WebConfig | undefined;

/** Loads `/config.json`, which differs between stages; the bundle is the same everywhere. */
export async function loadConfig(): Promise<WebConfig> {
  const response = await fetch('/config.json', { headers: { Accept: 'application/json' } });
  if (!response.ok) throw new Error(`/config.json could not be read: HTTP ${response.status}`);
  config = (await response.json()) as WebConfig;
  return config;
}

/** The loaded configuration of the platform. */
export function webConfig(): WebConfig {
  if (!config) throw new Error('loadConfig() has not finished');
  return config;
}
