import type { Lease } from '@gyropilot/api'
import type { KindRules } from '../../registry/kind-rules.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { validateStrategy } from './strategy.ts'

export const lease: KindRules<Lease> = {
  group: 'coordination.k8s.io',
  kind: 'Lease',
  generationOf: null,
  createOnUpdate: true,
  unconditionalUpdate: false,
  validate(object, errors) {
    const spec = object.spec ?? {}
    if (typeof spec.leaseDurationSeconds === 'number' && spec.leaseDurationSeconds <= 0) {
      errors.invalid(
        'spec.leaseDurationSeconds',
        spec.leaseDurationSeconds,
        'must be greater than 0',
      )
    }
    if (typeof spec.leaseTransitions === 'number' && spec.leaseTransitions < 0) {
      errors.invalid(
        'spec.leaseTransitions',
        spec.leaseTransitions,
        'must be greater than or equal to 0',
      )
    }
    const strategy: string | undefined = spec.strategy
    if (strategy !== undefined) validateStrategy(strategy, errors)
    if (spec.preferredHolder && !strategy)
      errors.forbidden('spec.preferredHolder', 'may only be specified if `strategy` is defined')
  },
  columns: [
    nameColumn,
    column(
      'Holder',
      'string',
      'holderIdentity contains the identity of the holder of a current lease. If Coordinated Leader Election is used, the holder identity must be equal to the elected LeaseCandidate.metadata.name field.',
      (object) => object.spec?.holderIdentity ?? '',
    ),
    ageColumn,
  ],
}
