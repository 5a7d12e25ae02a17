import type { ComponentCondition, ComponentStatus } from '@gyropilot/api'
import type { KindRules, StoredOf } from '../../registry/kind-rules.ts'
import { column, nameColumn } from '../columns.ts'

const health = (object: StoredOf<ComponentStatus>): StoredOf<ComponentCondition> =>
  (object.conditions ?? []).find(({ type }) => type === 'Healthy') ?? {}

const HEALTH: Readonly<Record<string, string>> = { True: 'Healthy', False: 'Unhealthy' }

export const componentStatus: KindRules<ComponentStatus> = {
  group: '',
  kind: 'ComponentStatus',
  columns: [
    nameColumn,
    column(
      'Status',
      'string',
      'Status of the component conditions',
      (object) => HEALTH[health(object).status ?? ''] ?? 'Unknown',
    ),
    column(
      'Message',
      'string',
      'Message of the component conditions',
      (object) => health(object).message ?? '',
    ),
    column(
      'Error',
      'string',
      'Error of the component conditions',
      (object) => health(object).error ?? '',
    ),
  ],
}
