import type uPlot from 'uplot';
import type { LinkedPlots } from './linked-plots.ts';

/** Pixels between two fingers below which they do not zoom. */
const MIN_DISTANCE = 16;

/** One finger moves the cursor, two zoom and move the range. Up and down scrolls the page: `touch-action` leaves it to the browser. */
export function followTouch(plot: uPlot, linked: LinkedPlots): void {
  const { over } = plot;
  /** Pixels of each finger from the left. */
  const fingers = new Map<number, number>();
  /** Values of x under the fingers: they stay there. */
  let held: readonly number[] = [];
  const place = ({ pointerId, clientX }: PointerEvent) =>
    fingers.set(pointerId, clientX - over.getBoundingClientRect().left);
  const hold = () => {
    held = [...fingers.values()].map((left) => plot.posToVal(left, 'x'));
  };
  over.addEventListener('pointerdown', (event) => {
    if (event.pointerType !== 'touch') return;
    place(event);
    hold();
  });
  over.addEventListener('pointermove', (event) => {
    if (!fingers.has(event.pointerId)) return;
    place(event);
    const [first, second] = fingers.values();
    if (second === undefined) return linked.point(first!);
    const perPixel = (held[1]! - held[0]!) / (second - first!);
    if (Math.abs(second - first!) < MIN_DISTANCE || !(perPixel > 0)) return;
    const from = held[0]! - first! * perPixel;
    linked.show(from, from + over.clientWidth * perPixel);
  });
  for (const end of ['pointerup', 'pointercancel'] as const) {
    over.addEventListener(end, ({ pointerId }) => {
      fingers.delete(pointerId);
      hold();
    });
  }
}
