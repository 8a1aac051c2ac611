const PORT = 8002;

/**
 * Address of the data collection service: the configured URL as is, else service discovery within the namespace.
 * Null when neither is given or the outcome is no HTTP URL.
 */
export function resolveBaseUrl(settings: {
  readonly url?: string | undefined;
  readonly namespace?: string | undefined;
}): string | null {
  const url =
    settings.url || (settings.namespace ? `http://data-collection.${settings.namespace}:${PORT}` : '');
  return /^https?:\/\//i.test(url) && URL.canParse(url) ? url : null;
}
