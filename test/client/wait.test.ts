import { describe, expect, it } from 'vitest';
import { getBacktest, NotFoundError, UnavailableError, waitFor } from '../../src/client/index.ts';
import { broken, clientOf, json, rejected } from './service.ts';

/** A wait outlasts what ends a single call. */

const JOB = { job_id: 'bt-1' };
const once = { attempts: 1 };

describe('waitFor while the platform fails', () => {
  it('continues after a restart, with pauses that grow until the job is read again', async () => {
    const replies = [json({ status: 'running' }), rejected(503, 'SVC001'), broken, broken];
    const { connection, pauses } = clientOf(
      [...replies, json({ status: 'running' }), broken, json({ status: 'completed' })],
      once,
    );
    const seen: string[] = [];
    const job = await waitFor(connection, getBacktest, JOB, { onRead: ({ status }) => seen.push(status) });
    expect([job.status, seen]).toEqual(['completed', ['running', 'running', 'completed']]);
    const [first, a, b, c, after, again] = pauses as [number, number, number, number, number, number];
    expect([first, after]).toEqual([500, 750]);
    expect(again).toBeLessThan(630);
    expect([a > 370 && a < 630, b > 740 && b < 1260, c > 1490 && c < 2510]).toEqual([true, true, true]);
  });

  it('waits for Retry-After', async () => {
    const { connection, pauses } = clientOf(
      [rejected(503, 'SVC001', { 'Retry-After': '120' }), json({ status: 'cancelled' })],
      once,
    );
    expect((await waitFor(connection, getBacktest, JOB)).status).toBe('cancelled');
    expect(pauses).toEqual([120_000]);
  });

  it('ends with the error when the platform does not come back', async () => {
    const { connection, sent } = clientOf(Array(30).fill(broken), once);
    await expect(waitFor(connection, getBacktest, JOB)).rejects.toThrow(UnavailableError);
    expect(sent).toHaveLength(24);
  });

  it('ends at once with an error that stays, and with what onRead throws', async () => {
    const { connection } = clientOf([rejected(404, 'RES001'), json({ status: 'running' })], once);
    await expect(waitFor(connection, getBacktest, JOB)).rejects.toThrow(NotFoundError);
    const onRead = () => {
      throw new Error('mine');
    };
    await expect(waitFor(connection, getBacktest, JOB, { onRead })).rejects.toThrow('mine');
  });

  it('knows no end but completed, failed and cancelled', async () => {
    const { connection } = clientOf([json({ status: 'a later one' }), json({ status: 'failed' })]);
    expect((await waitFor(connection, getBacktest, JOB)).status).toBe('failed');
  });
});
