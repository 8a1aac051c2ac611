import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // The end-to-end files start whole platforms: two at a time fit two cores.
    maxWorkers: 2,
    // The machines are shared: a test that starts and kills processes may take several times what it takes alone.
    testTimeout: 90_000,
    hookTimeout: 60_000,
  },
});
