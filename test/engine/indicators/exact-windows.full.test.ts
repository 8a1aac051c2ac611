import { it } from 'vitest';
import { expectExactMoments, expectExactSums } from './exact-windows.ts';

it('sma, wma, rolling sum and extremes over 333 equal their definitions', () => expectExactSums(333));

it('deviation, bands, z-score and slope over 333 equal their definitions', () => expectExactMoments(333));
