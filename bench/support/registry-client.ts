import type { PlatformInfo } from '../../src/local/platform-info.ts';
import { expectOk } from './local-platform.ts';

type Service = 'backend' | 'strategy';

/** Client of the registry and of challenges over loopback. Each call throws unless it succeeds. */
export class RegistryClient {
  readonly #urls: Readonly<Record<Service, string>>;

  constructor({ backend_url, strategy_service_url }: PlatformInfo) {
    this.#urls = { backend: backend_url, strategy: strategy_service_url };
  }

  async get<T>(path: string, service: Service = 'backend'): Promise<T> {
    return (await expectOk(await fetch(`${this.#urls[service]}/api/v1/${path}`))) as T;
  }

  async post<T>(path: string, body: unknown, service: Service = 'backend'): Promise<T> {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    return (await expectOk(await fetch(`${this.#urls[service]}/api/v1/${path}`, init))) as T;
  }

  /** Runs a backtest of a strategy to completion and returns its ID. */
  async backtest(strategy: string): Promise<string> {
    const config = {
      strategy,
      pairs: ['BTC/USDT:USDT'],
      timeframe: '1h',
      date_range: { start: '2026-01-01T00:00:00Z', end: '2026-01-08T00:00:00Z' },
    };
    const { job_id } = await this.post<{ job_id: string }>('backtests', { config });
    for (;;) {
      const { status } = await this.get<{ status: string }>(`backtests/${job_id}`);
      if (status === 'completed') return job_id;
      if (status !== 'pending' && status !== 'running')
        throw new Error(`Backtest ${job_id} is ${status}, not completed`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
