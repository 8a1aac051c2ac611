import { withTimeout } from './shared/with-timeout.ts';

/** Probe result of a dependency; `not_deployed` when this installation does not have it. */
type DependencyStatus = 'healthy' | 'unavailable' | 'not_deployed';

/** Resolves when the dependency responds, rejects when it does not; null when it is not deployed. */
export type Probe = ((signal: AbortSignal) => Promise<unknown>) | null;

export interface HealthReport {
  readonly status: 'healthy' | 'degraded';
  readonly dependencies: Readonly<Record<string, DependencyStatus>>;
  /** Why it is degraded; absent while it is healthy. */
  readonly reason?: string;
}

export interface HealthDeps<Dependency extends string = string> {
  /** By the dependency's name in the response. */
  readonly probes: Readonly<Record<Dependency, Probe>>;
  /**
   * Rejects with a message for clients while storage has no space for new work; absent where storage is not limited.
   */
  readonly checkDiskSpace?: (() => Promise<void>) | undefined;
}

/** Probes all dependencies concurrently, each within `timeoutMs`. Never throws: a service that responds is at least degraded. */
export async function getHealth(
  { probes, checkDiskSpace }: HealthDeps,
  timeoutMs: number,
): Promise<HealthReport> {
  const [entries, shortage] = await Promise.all([
    Promise.all(
      Object.entries(probes).map(async ([name, probe]) => [name, await runProbe(probe, timeoutMs)] as const),
    ),
    checkDiskSpace?.().catch((error: Error) => error.message),
  ]);
  const dependencies = Object.fromEntries(entries);
  const unavailable = entries.filter(([, status]) => status === 'unavailable');
  const problems = [
    ...unavailable.map(([name]) => `${name} is unavailable`),
    ...(shortage ? [shortage] : []),
  ];
  return problems.length === 0
    ? { status: 'healthy', dependencies }
    : { status: 'degraded', dependencies, reason: problems.join('; ') };
}

async function runProbe(probe: Probe, timeoutMs: number): Promise<DependencyStatus> {
  if (!probe) return 'not_deployed';
  try {
    await withTimeout(timeoutMs, probe);
    return 'healthy';
  } catch {
    return 'unavailable';
  }
}
