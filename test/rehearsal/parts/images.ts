import { missingForImages } from '../../stacks/image-fixture.ts';
import { runCommand } from '../cdk.ts';
import type { Part } from '../rehearsal.ts';

/** Builds the Dockerfile of the tasks and runs its programs, as test/stacks/image.full.test.ts does where buildah is installed. */
export const images: Part = {
  name: 'images',
  title: 'image of the tasks',
  missing: missingForImages,
  seconds: 60,
  run: async (rehearsal) => {
    await rehearsal.verify('image of the tasks', async () => {
      const { status, text } = await runCommand(
        'vitest',
        ['run', '--project', 'full', 'test/stacks/image.full.test.ts'],
        {},
      );
      if (status !== 0) throw new Error(text.slice(-3000));
      return 'built by buildah; its programs start as a user who can write to /tmp only';
    });
  },
};
