/** What a dependency's probe found; `not_deployed` where this installation does not have it. */
type DependencyStatus = 'healthy' | 'unavailable' | 'not_deployed';

/** Resolves when the dependency answers, rejects when it does not; null where it is not deployed. */
export type Probe = ((signal: AbortSignal) => Promise<unknown>) | null;

export interface HealthReport {
  readonly status: 'healthy' | 'degraded';
  readonly dependencies: Readonly<Record<string, DependencyStatus>>;
}

/**
 * Probes all dependencies at once, each within `timeoutMs`. Never throws: a service that answers is at least degraded.
 */
export async function checkHealth(
  probes: Readonly<Record<string, Probe>>,
  timeoutMs: number,
): Promise<HealthReport> {
  const entries = await Promise.all(
    Object.entries(probes).map(async ([name, probe]) => [name, await runProbe(probe, timeoutMs)] as const),
  );
  return {
    status: entries.some(([, status]) => status === 'unavailable') ? 'degraded' : 'healthy',
    dependencies: Object.fromEntries(entries),
  };
}

async function runProbe(probe: Probe, timeoutMs: number): Promise<DependencyStatus> {
  if (!probe) return 'not_deployed';
  const signal = AbortSignal.timeout(timeoutMs);
  const expired = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  try {
    await Promise.race([probe(signal), expired]);
    return 'healthy';
  } catch {
    return 'unavailable';
  }
}
