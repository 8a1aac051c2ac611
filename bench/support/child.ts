import type { Bench } from './bench.ts';

const bench: Bench = (await import(`../${process.argv[2]}.ts`)).default;
process.send?.(await bench.run());
