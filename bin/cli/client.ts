import { printable } from './printable.ts';

const REQUEST_TIMEOUT_MS = 30_000;

/** A refusal: the message says all in one line; its parts are for a command that can show them better. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The message without the context. */
  readonly summary: string;
  readonly context: Context;
  /** What is wrong with which field. */
  readonly issues: readonly Issue[];

  constructor({ summary, context, issues }: Refusal, correlationId: string) {
    const told = Object.keys(context).length > 0 ? ` ${JSON.stringify(context)}` : '';
    super(`${summary}${told} (correlation id ${correlationId})`);
    this.summary = summary;
    this.context = context;
    this.issues = issues;
  }
}

type Context = Readonly<Record<string, unknown>>;

interface Issue {
  /** Dotted path; empty when there is none. */
  readonly field: string;
  readonly message: string;
}

interface Refusal {
  readonly summary: string;
  readonly context: Context;
  readonly issues: readonly Issue[];
}

/** Calls one service's HTTP API. */
export class ApiClient {
  readonly #baseUrl: string;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param token sent with every call, when there is one */
  constructor(baseUrl: string, token?: string) {
    this.#headers = token ? { authorization: `Bearer ${token}` } : {};
    this.#baseUrl = baseUrl.replace(/\/+$/, '');
  }

  get<T>(path: string): Promise<T> {
    return this.#send<T>('GET', path);
  }

  post<T>(path: string, body?: unknown): Promise<T> {
    return this.#send<T>('POST', path, body);
  }

  put<T>(path: string, body: unknown): Promise<T> {
    return this.#send<T>('PUT', path, body);
  }

  /**
   * An answer that is read as it comes: any that is no refusal. Rejects with {@link ApiError} for a refusal, and with an
   * error that says so when there is no answer. The signal ends what is being read too.
   */
  async open(
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Response> {
    const response = await this.#fetch('GET', path, { headers, signal });
    if (!response.ok) throw await refusal(response);
    return response;
  }

  async #send<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await this.#fetch(method, path, {
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw await refusal(response);
    return readJson<T>(await response.text());
  }

  #fetch(
    method: string,
    path: string,
    { headers, ...init }: RequestInit & { readonly headers: Readonly<Record<string, string>> },
  ): Promise<Response> {
    return fetch(`${this.#baseUrl}${path}`, {
      ...init,
      method,
      // Whoever is asked gets the token: nobody else does.
      redirect: 'manual',
      headers: { ...this.#headers, ...headers },
    }).catch((cause: unknown) => {
      throw new Error(`No answer from ${this.#baseUrl}: is the platform running (npm start)?`, { cause });
    });
  }
}

async function refusal(response: Response): Promise<ApiError> {
  const correlationId = printable(response.headers.get('x-correlation-id') ?? 'none');
  return new ApiError(explain(response.status, await response.text()), correlationId);
}

/** What a service has sent, with every text of it fit to be shown. */
export function readJson<T>(text: string): T {
  return JSON.parse(text, toPrintable) as T;
}

interface FieldIssue {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
}

/** One sentence from either of the two error shapes, and the context of the second. */
function explain(status: number, text: string): Refusal {
  try {
    const { detail } = JSON.parse(text, toPrintable) as {
      detail: FieldIssue[] | { code: string; message: string; field?: string; context?: Context };
    };
    if (Array.isArray(detail)) {
      const issues = detail.map(({ loc, msg }) => ({ field: loc.join('.'), message: msg }));
      const summary = issues.map(({ field, message }) => `${field}: ${message}`).join('; ');
      return { summary, context: {}, issues };
    }
    const hint =
      status === 401
        ? '. Put a token into TOUCHSTONE_TOKEN; for a platform of this machine: touchstone token'
        : '';
    const summary = `${detail.code}: ${detail.message}${hint}`;
    const issues = [{ field: detail.field ?? '', message: summary }];
    return { summary, context: detail.context ?? {}, issues };
  } catch {
    return { summary: `HTTP ${status}`, context: {}, issues: [] };
  }
}

/** Every text that is received is there to be shown, names of fields too. */
function toPrintable(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return printable(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [printable(name), each]));
}
