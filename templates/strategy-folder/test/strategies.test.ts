import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { expectCausal } from 'touchstone/testing';

const folder = new URL('../strategies/', import.meta.url);

for (const file of readdirSync(folder).filter((name) => name.endsWith('.ts'))) {
  test(`${file} is free of look-ahead bias`, async () => {
    await expectCausal(new URL(file, folder));
  });
}
