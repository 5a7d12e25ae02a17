import type { LeaseCandidate, LeaseCandidateSpec } from '@gyropilot/api'
import type { KindRules, StoredOf } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { compareSemanticVersions, parseSemanticVersion } from '@gyropilot/schema/semantic-version'
import type { SemanticVersion } from '@gyropilot/schema/semantic-version'
import { configMapKey } from '@gyropilot/schema/validation/names'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { OLDEST_EMULATION_VERSION, validateStrategy } from './strategy.ts'

const NO_VERSION: SemanticVersion = { numbers: [0n, 0n, 0n], preRelease: [] }
const NOT_SEMANTIC = 'must be a valid semantic version'

/** One process that could lead. Contract: docs/behaviour/runtime/leader-election.md, Client: candidate. */
export const leaseCandidate: KindRules<LeaseCandidate> = {
  group: 'coordination.k8s.io',
  kind: 'LeaseCandidate',
  // Identities of electors: host name, underscore, uid.
  name: configMapKey,
  generationOf: null,
  createOnUpdate: true,
  unconditionalUpdate: false,
  validate(object, errors) {
    const spec = object.spec ?? {}
    if (!spec.leaseName) errors.required('spec.leaseName')
    const emulation = validateVersions(spec, errors)
    if (!spec.strategy) errors.required('spec.strategy')
    else {
      const isUnknown = compareSemanticVersions(emulation, NO_VERSION) === 0
      if (spec.strategy === OLDEST_EMULATION_VERSION && isUnknown)
        errors.required(
          'spec.emulationVersion',
          "must be specified when `strategy` is 'OldestEmulationVersion'",
        )
      validateStrategy(spec.strategy, errors)
    }
  },
  validateUpdate(object, stored, errors) {
    const leaseName: string = object.spec?.leaseName ?? ''
    if (leaseName !== stored.spec?.leaseName)
      errors.invalid('spec.leaseName', leaseName, 'field is immutable')
  },
  columns: [
    nameColumn,
    column(
      'LeaseName',
      'string',
      'LeaseName is the name of the lease for which this candidate is contending. This field is immutable.',
      (object) => object.spec?.leaseName ?? '',
    ),
    column('BinaryVersion', 'string', '', (object) => object.spec?.binaryVersion ?? ''),
    column('EmulationVersion', 'string', '', (object) => object.spec?.emulationVersion ?? ''),
    ageColumn,
  ],
}

/** Answers the emulation version; what is no version counts as zero. */
function validateVersions(
  spec: StoredOf<LeaseCandidateSpec>,
  errors: FieldErrors,
): SemanticVersion {
  const { binaryVersion, emulationVersion } = spec
  const emulation = emulationVersion ? parseSemanticVersion(emulationVersion) : NO_VERSION
  if (emulation === undefined)
    errors.invalid('spec.emulationVersion', emulationVersion, NOT_SEMANTIC)
  if (!binaryVersion) {
    errors.required('spec.binaryVersion')
    return emulation ?? NO_VERSION
  }
  const binary = parseSemanticVersion(binaryVersion)
  if (binary === undefined) errors.invalid('spec.binaryVersion', binaryVersion, NOT_SEMANTIC)
  const isOlder = compareSemanticVersions(binary ?? NO_VERSION, emulation ?? NO_VERSION) < 0
  if (emulationVersion && isOlder)
    errors.invalid(
      'spec.binaryVersion',
      binaryVersion,
      'must be greater than or equal to `emulationVersion`',
    )
  return emulation ?? NO_VERSION
}
