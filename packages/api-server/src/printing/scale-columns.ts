import type { PrinterColumn } from '../registry/kind-rules.ts'
import { formatAge } from './ages.ts'
import { CREATED_AT_DESCRIPTION, NAME_DESCRIPTION } from './descriptions.ts'

export const SCALE_COLUMNS: readonly PrinterColumn[] = [
  {
    name: 'Name',
    type: 'string',
    description: NAME_DESCRIPTION,
    cell: (object) => object['metadata']?.name ?? '',
  },
  {
    name: 'Desired',
    type: 'integer',
    description: 'replicas is the desired number of instances for the scaled object.',
    cell: (object) => object['spec']?.replicas ?? 0,
  },
  {
    name: 'Available',
    type: 'integer',
    description: 'replicas is the actual number of observed instances of the scaled object.',
    cell: (object) => object['status']?.replicas ?? 0,
  },
  {
    name: 'Age',
    type: 'string',
    description: CREATED_AT_DESCRIPTION,
    cell: (object, nowMs) => formatAge(object['metadata']?.creationTimestamp, nowMs),
  },
]

/** Of custom resources. */
export const CUSTOM_SCALE_COLUMNS: readonly PrinterColumn[] = [
  { ...SCALE_COLUMNS[0]!, format: 'name' },
  {
    ...SCALE_COLUMNS[1]!,
    description: 'Number of desired replicas',
    // A path that leads nowhere: none and zero are left out.
    cell: (object) => object['spec']?.replicas ?? null,
  },
  { ...SCALE_COLUMNS[2]!, description: 'Number of actual replicas' },
  { ...SCALE_COLUMNS[3]!, type: 'date' },
]
