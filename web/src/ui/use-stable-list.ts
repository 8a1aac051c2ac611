import { useRef } from 'react';

/** The same list as long as its items are the same: what follows from it is computed once. */
export function useStableList<T>(list: readonly T[]): readonly T[] {
  const last = useRef(list);
  const isSame =
    last.current.length === list.length && last.current.every((item, index) => item === list[index]);
  if (!isSame) last.current = list;
  return last.current;
}
