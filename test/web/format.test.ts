import { expect, test } from 'vitest';
import { balance, signed, value, withUnit } from '../../web/src/ui/format.ts';

test.each([
  [1234.567, '1,234.57'],
  [0.256, '0.26'],
  [0, '0.00'],
  // Amounts of a wallet in bitcoin.
  [0.0158937, '0.0159'],
  [-0.00026814, '−0.000268'],
  [0.00000001, '0.00000001'],
  [-1e-17, '0.00'],
])('an amount of %d is %s', (amount, text) => {
  expect(value(amount, 'quote')).toBe(text);
});

test.each([
  [0.00074716, '0.000747'],
  [0.0364366, '0.0364'],
  [1.5, '1.5000'],
])('an amount of %d of the base currency is %s', (amount, text) => {
  expect(value(amount, 'base')).toBe(text);
});

test('other units keep their decimals', () => {
  expect(value(0.0158937, 'ratio')).toBe('0.02');
  expect(withUnit(0.0158937, 'quote', 'BTC')).toBe('0.0159 BTC');
  expect(signed(0.0158937, 'quote')).toBe('+0.0159');
});

test.each([
  [1059.5, 'USDT', '1,059.50 USDT'],
  [0.1052, 'BTC', '0.10520 BTC'],
  [0.0999, '', '0.099900'],
])('a balance of %d %s is %s', (number, currency, text) => {
  expect(balance(number, currency)).toBe(text);
});
