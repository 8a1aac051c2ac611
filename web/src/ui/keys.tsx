import { ArrowDown, ArrowLeft, ArrowRight, ArrowUp } from 'lucide-react';

/** Keys whose sign few fonts have. */
const SIGNS = {
  Up: { Icon: ArrowUp, name: 'up arrow' },
  Down: { Icon: ArrowDown, name: 'down arrow' },
  Left: { Icon: ArrowLeft, name: 'left arrow' },
  Right: { Icon: ArrowRight, name: 'right arrow' },
} as const;

/** Keys to press one after the other. */
export function Keys({ names }: { readonly names: readonly (string | keyof typeof SIGNS)[] }) {
  return (
    <span className="keys">
      {names.map((name) => {
        const sign = Object.hasOwn(SIGNS, name) ? SIGNS[name as keyof typeof SIGNS] : undefined;
        return <kbd key={name}>{sign ? <sign.Icon role="img" aria-label={sign.name} /> : name}</kbd>;
      })}
    </span>
  );
}
