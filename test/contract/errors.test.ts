import { describe, expect, it } from 'vitest';
import { CodedError, ERRORS, type ErrorCode } from '#contract/values/errors.ts';

/** Error codes that clients rely on, by status: neither may change. */
const STABLE = {
  400: ['VAL001', 'VAL002', 'VAL003', 'VAL004', 'VAL005', 'VAL006', 'DATA001', 'DATA002'],
  401: ['AUTH001', 'AUTH002', 'AUTH003'],
  403: ['AUTH004', 'AUTH005'],
  404: ['RES001', 'RES002', 'RES003', 'RES004', 'DATA003'],
  409: ['RES005'],
  410: ['RES006'],
  500: ['SVC001'],
  502: ['SVC002'],
  503: ['SVC003', 'SVC004', 'SVC005', 'DATA004', 'DATA005'],
  504: ['SVC006'],
};

describe('error catalogue', () => {
  const codes = Object.entries(STABLE).flatMap(([status, list]) =>
    list.map((code) => [code, Number(status)] as const),
  );

  it('error catalogue contains the 28 stable codes and only HTTP, OPT, CHL, APR, COL, IMP, HOOK and SIG in addition', () => {
    expect(codes).toHaveLength(28);
    const own = Object.keys(ERRORS).filter((code) => !codes.some(([known]) => known === code));
    for (const code of own) expect(code).toMatch(/^(HTTP|OPT|CHL|APR|COL|IMP|HOOK|SIG)\d{3}$/);
  });

  it.each(codes)('error code %s has status %i and a message', (code, status) => {
    expect(ERRORS[code as ErrorCode].status).toBe(status);
    expect(ERRORS[code as ErrorCode].message).not.toBe('');
  });
});

describe('CodedError', () => {
  it('CodedError takes status and message from the catalogue', () => {
    expect(new CodedError('RES001')).toMatchObject({
      status: 404,
      message: 'Backtest job not found',
      field: '',
      context: {},
    });
  });

  it('CodedError prefers the given status and message', () => {
    const cause = new Error('why');
    const options = { status: 400, message: 'm', field: 'job_id', context: { a: 1 }, cause };
    expect(new CodedError('RES005', options)).toMatchObject(options);
  });
});
