import { Link } from '@tanstack/react-router';
import { PageHead } from '../../ui/parts.tsx';
import { Empty } from '../../ui/states.tsx';

/** A path that names no page. */
export function UnknownPage() {
  return (
    <>
      <PageHead title="No such page" />
      <Empty title="Nothing stands at this address">
        Check the address, or go <Link to="/">home</Link>.
      </Empty>
    </>
  );
}
