import './home.css';
import { Fragment } from 'react';
import { useCall } from '../../api/queries.ts';
import { Status } from '../../ui/parts.tsx';
import { Loaded, Skeleton } from '../../ui/states.tsx';

const SERVICES = [
  ['Backtests', 'getHealth'],
  ['Strategies', 'getStrategyServiceHealth'],
  ['Market data', 'getDataHealth'],
] as const;

/** Status of each service and of what it depends on. */
export function HealthList() {
  return (
    <div className="cols-3 pad">
      {SERVICES.map(([name, id]) => (
        <ServiceHealth key={id} name={name} id={id} />
      ))}
    </div>
  );
}

function ServiceHealth({ name, id }: { readonly name: string; readonly id: (typeof SERVICES)[number][1] }) {
  const query = useCall(id, {}, { isMoving: ({ status }) => status !== 'healthy' });
  return (
    <div className="health">
      <h3>{name}</h3>
      <Loaded query={query} skeleton={<Skeleton rows={3} />}>
        {({ status, dependencies, reason }) => (
          <>
            <Status status={status} />
            {reason && <p className="muted">{reason}</p>}
            <dl className="defs">
              {Object.entries(dependencies).map(([dependency, state]) => (
                <Fragment key={dependency}>
                  <dt>{dependency}</dt>
                  <dd>
                    <Status status={state} />
                  </dd>
                </Fragment>
              ))}
            </dl>
          </>
        )}
      </Loaded>
    </div>
  );
}
