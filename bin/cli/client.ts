const REQUEST_TIMEOUT_MS = 30_000;

/** Calls one service's HTTP API. */
export class ApiClient {
  readonly #baseUrl: string;

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl.replace(/\/+$/, '');
  }

  get<T>(path: string): Promise<T> {
    return this.#send<T>('GET', path);
  }

  post<T>(path: string, body?: unknown): Promise<T> {
    return this.#send<T>('POST', path, body);
  }

  async #send<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${this.#baseUrl}${path}`, {
      method,
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    }).catch((cause: unknown) => {
      throw new Error(`No answer from ${this.#baseUrl}: is the platform running (npm start)?`, { cause });
    });
    const text = await response.text();
    if (!response.ok) {
      const correlation = response.headers.get('x-correlation-id');
      throw new Error(`${explain(response.status, text)} (correlation id ${correlation})`);
    }
    return JSON.parse(text) as T;
  }
}

interface FieldIssue {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
}

/** One sentence from either of the two error shapes. */
function explain(status: number, text: string): string {
  try {
    const { detail } = JSON.parse(text) as {
      detail: FieldIssue[] | { code: string; message: string; context?: unknown };
    };
    if (Array.isArray(detail)) return detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ');
    const context =
      detail.context && Object.keys(detail.context).length > 0 ? ` ${JSON.stringify(detail.context)}` : '';
    return `${detail.code}: ${detail.message}${context}`;
  } catch {
    return `HTTP ${status}`;
  }
}
