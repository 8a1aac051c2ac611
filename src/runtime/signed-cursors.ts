import { createHmac, timingSafeEqual } from 'node:crypto';
import { CodedError } from '#contract/values/errors.ts';
import { documentedErrors, type Operation } from '#contract/values/operation.ts';
import type { HandlerResult } from './responses.ts';

/** Reads the key of the platform's cursors. It is called for pages after the first, and for lists that have one. */
export type CursorKey = () => Promise<Uint8Array>;

/** Fields of requests with the position of a page, and the fields of responses with the next one. */
const FIELDS = { cursor: 'next_cursor', page_token: 'next_page_token' } as const;

/** Characters of a digest: 128 bits as base64url. */
const DIGEST_LENGTH = 22;

/** Cursors of the lists of a service. A list sees and returns its own ones; callers have them with a digest by the platform's key. */
export class SignedCursors {
  readonly #key: CursorKey | undefined;

  /** @param key absent: no operation may take or return a cursor */
  constructor(key: CursorKey | undefined) {
    this.#key = key;
  }

  /**
   * Query or body of a request with the cursor as its list made it.
   *
   * @throws CodedError VAL006 for a cursor that this platform did not make
   */
  async open<T>(operation: Operation, request: T): Promise<T> {
    let opened = request;
    const declared = { ...shapeOf(operation.query), ...shapeOf(operation.body) };
    for (const field of Object.keys(FIELDS).filter((each) => Object.hasOwn(declared, each))) {
      const signed = (request as Readonly<Record<string, unknown>> | undefined)?.[field];
      if (typeof signed !== 'string' || signed === '') continue;
      const cursor = signed.slice(DIGEST_LENGTH);
      const digest = await this.#digest(operation, cursor);
      if (!isEqual(signed.slice(0, DIGEST_LENGTH), digest)) throw unknownCursor(field);
      opened = { ...opened, [field]: cursor };
    }
    return opened;
  }

  /** A result with the digest in its next cursor. */
  async sign(operation: Operation, result: HandlerResult): Promise<HandlerResult> {
    let signed = result;
    for (const field of Object.values(FIELDS)) {
      const body = signed.body as Readonly<Record<string, unknown>> | null | undefined;
      const cursor = body?.[field];
      if (typeof cursor !== 'string' || cursor === '') continue;
      signed = { ...signed, body: { ...body, [field]: `${await this.#digest(operation, cursor)}${cursor}` } };
    }
    return signed;
  }

  async #digest(operation: Operation, cursor: string): Promise<string> {
    if (!this.#key) throw new Error(`${operation.id} has pages: pass the key of their cursors`);
    const key = await this.#key().catch((cause: unknown) => {
      // The table of the key may not be the one of the list.
      const documented = documentedErrors(operation).map(({ code }) => code);
      throw new CodedError(documented.includes('SVC005') ? 'SVC005' : 'DATA005', { cause });
    });
    return createHmac('sha256', key).update(cursor).digest('base64url').slice(0, DIGEST_LENGTH);
  }
}

/** Fields of an object's schema. A body may have others, which are ignored. */
function shapeOf(schema: unknown): object {
  return (schema as { readonly shape?: object } | undefined)?.shape ?? {};
}

function isEqual(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function unknownCursor(field: string): CodedError {
  return new CodedError('VAL006', {
    message: `This platform did not make this ${field}, or it made it before cursors were signed. Pass that of the previous page unchanged, or start again from the first page.`,
    field,
  });
}
