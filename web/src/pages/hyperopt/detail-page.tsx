import { useParams } from '@tanstack/react-router';
import { PageHead } from '../../ui/parts.tsx';

export function HyperoptPage() {
  const { id } = useParams({ from: '/hyperopt/$id' });
  return <PageHead title={id} />;
}
