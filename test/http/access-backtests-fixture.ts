import { afterAll, beforeAll, expect } from 'vitest';
import { type AccessFixture, accessFixture, type Person } from '../support/access-fixture.ts';

export const at = (id: string) => `/api/v1/backtests/${id}`;

/** All IDs of a list over its pages. Expects every page but the last to be full. */
export async function idsOf(person: Person, query = '', limit = 100): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ''; ; ) {
    const { status, body } = await person.get(`/api/v1/backtests?limit=${limit}${query}${cursor}`);
    expect(status).toBe(200);
    ids.push(...body.items.map(({ job_id }: { job_id: string }) => job_id));
    if (body.next_cursor === null) return ids;
    expect(body.items).toHaveLength(limit);
    cursor = `&cursor=${body.next_cursor}`;
  }
}

/** Access fixture of a file, and three persons on it. */
export interface AccessScene {
  fixture: AccessFixture;
  ann: Person;
  bob: Person;
  admin: Person;
}

/** Starts the fixture before the tests of a file, and stops it after them. */
export function accessScene(): AccessScene {
  const scene = {} as AccessScene;
  beforeAll(async () => {
    const fixture = await accessFixture();
    scene.fixture = fixture;
    scene.ann = fixture.person('ann');
    scene.bob = fixture.person('bob');
    scene.admin = fixture.person('root', 'admin');
  });
  afterAll(() => scene.fixture?.stop());
  return scene;
}
