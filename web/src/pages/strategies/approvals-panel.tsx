import { useCall } from '../../api/queries.ts';
import { Panel } from '../../ui/parts.tsx';
import { Empty, Loaded, Skeleton } from '../../ui/states.tsx';
import { ApprovalList } from './approval-list.tsx';

/** The newest requests for approval of a model. */
export function ApprovalsPanel({ name }: { readonly name: string }) {
  const query = useCall(
    'listModelApprovals',
    { params: { model_name: name }, query: { limit: 20 } },
    { isMoving: ({ items }) => items.some(({ status }) => status === 'requested') },
  );
  return (
    <Panel title="Requests for approval">
      <Loaded query={query} skeleton={<Skeleton rows={2} />}>
        {({ items }) =>
          items.length > 0 ? (
            <ApprovalList items={items} />
          ) : (
            <Empty title="Nothing was requested">
              With sign-in, a researcher can ask for a transition that another user approves.
            </Empty>
          )
        }
      </Loaded>
    </Panel>
  );
}
