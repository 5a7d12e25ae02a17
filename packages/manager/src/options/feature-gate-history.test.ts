import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PrometheusRegistry } from '@gyropilot/foundation'
import { flagDefinitions } from '../flags/kube-controller-manager-flags.ts'
import { parseFlags } from '../flags/pflag.ts'
import { featureGatesAt } from './feature-gate-history.ts'
import { featureGates } from './feature-gate-table.ts'
import { exposeFeatureGates, gateWarnings } from './feature-gates.ts'
import { Options, compatibilityVersions, validateGates } from './options.ts'

const optionsOf = (minor: number, gates = ''): Options =>
  new Options(
    parseFlags(flagDefinitions, [
      `--emulated-version=1.${minor}`,
      ...(gates === '' ? [] : [`--feature-gates=${gates}`]),
    ]),
  )

/** As the metrics of kube-controller-manager 1.36.2 count them, less three of the vendor of that build. */
const COUNTS: readonly (readonly [minor: number, all: number, on: number, locked: number])[] = [
  [36, 242, 170, 76],
  [35, 212, 133, 56],
  [34, 191, 115, 44],
  [33, 172, 91, 20],
]
for (const [minor, all, on, locked] of COUNTS)
  test(`gates of 1.${minor}: how many there are, are on by default, and are locked`, () => {
    const gates = [...featureGatesAt(minor).values()]
    assert.deepEqual(
      [
        gates.length,
        gates.filter((gate) => gate.default).length,
        gates.filter((gate) => gate.locked).length,
      ],
      [all, on, locked],
    )
  })

test('every gate of an older version is one of the newest, and names are in order', () => {
  for (const [minor] of COUNTS) {
    const names = [...featureGatesAt(minor).keys()]
    assert.deepEqual(names, names.toSorted())
    assert.deepEqual(
      names.filter((name) => !featureGates.has(name)),
      [],
    )
  }
  assert.equal(featureGatesAt(32), featureGatesAt(33))
  assert.equal(featureGatesAt(37), featureGates)
})

test('a gate has the stage, the default and the lock of the emulated version', () => {
  const at = (minor: number, name: string) => featureGatesAt(minor).get(name)
  assert.deepEqual(at(36, 'DynamicResourceAllocation'), {
    default: true,
    stage: 'GA',
    locked: true,
  })
  assert.deepEqual(at(34, 'DynamicResourceAllocation'), { default: true, stage: 'GA' })
  assert.deepEqual(at(33, 'DynamicResourceAllocation'), { default: false, stage: 'BETA' })
  assert.deepEqual(at(35, 'DRADeviceTaints'), { default: false, stage: 'ALPHA' })
  assert.equal(at(35, 'AtomicFIFO'), undefined)
})

test('what is alpha, settled or not there yet in the emulated version may be set or not as there', () => {
  assert.doesNotThrow(() => validateGates(optionsOf(34, 'VolumeAttributesClass=false')))
  assert.throws(() => validateGates(optionsOf(36, 'VolumeAttributesClass=false')), {
    message: 'cannot set feature gate VolumeAttributesClass to false, feature is locked to true',
  })
  for (const value of [true, false])
    assert.throws(() => validateGates(optionsOf(35, `AtomicFIFO=${value}`)), {
      code: 'FEATURE_GATE_INVALID',
      message: `cannot set feature gate AtomicFIFO to ${value}, feature is PreAlpha at emulated version 1.35, min compatibility version 1.34`,
    })
  assert.throws(() => validateGates(optionsOf(35, 'Nothing=true')), {
    message: 'unrecognized feature gate: Nothing',
  })
})

test('AllAlpha and AllBeta move those that are of the stage in the emulated version; what is not there yet is off', () => {
  assert.equal(optionsOf(35).isGateOn('ComponentFlagz'), false)
  assert.equal(optionsOf(35, 'AllAlpha=true,GenericWorkload=true').isGateOn('ComponentFlagz'), true)
  assert.equal(optionsOf(36, 'AllBeta=false').isGateOn('InOrderInformers'), true)
  assert.equal(optionsOf(35, 'AllBeta=false').isGateOn('InOrderInformers'), false)
  assert.equal(optionsOf(35, 'AllAlpha=true').isGateOn('AtomicFIFO'), false)
})

test('gates build on each other as in the emulated version', () => {
  const refused: readonly (readonly [number, string, string])[] = [
    [33, 'DRAAdminAccess=true', 'DRAAdminAccess: DynamicResourceAllocation'],
    [33, 'AuthorizeWithSelectors=false', 'AuthorizeNodeWithSelectors: AuthorizeWithSelectors'],
    [
      33,
      'PodLifecycleSleepAction=false',
      'PodLifecycleSleepActionAllowZero: PodLifecycleSleepAction',
    ],
    [35, 'UserNamespacesSupport=false', 'ProcMountType: UserNamespacesSupport'],
    [
      35,
      'UserNamespacesHostNetworkSupport=true',
      'UserNamespacesHostNetworkSupport: NodeDeclaredFeatures',
    ],
    [36, 'DRADeviceTaints=false,DRADeviceTaintRules=true', 'DRADeviceTaintRules: DRADeviceTaints'],
  ]
  for (const [minor, gates, problem] of refused) {
    const [gate, needed] = problem.split(': ')
    assert.throws(() => validateGates(optionsOf(minor, gates)), {
      message: `${gate} is enabled, but depends on features that are disabled: [${needed}]`,
    })
  }
})

test('what is settled in the emulated version is told when it is set, what is not is not', () => {
  const told = (minor: number, gates: string) => {
    const options = optionsOf(minor, gates)
    return gateWarnings(options.gates(), compatibilityVersions(options)).length
  }
  assert.equal(told(36, 'CSIServiceAccountTokenSecrets=true'), 1)
  assert.equal(told(35, 'CSIServiceAccountTokenSecrets=true'), 0)
  assert.equal(told(35, 'VolumeAttributesClass=false'), 1)
})

test('the metric tells of the gates that the emulated version has', () => {
  const metrics = new PrometheusRegistry()
  const options = optionsOf(35)
  exposeFeatureGates(metrics, options.gates(), compatibilityVersions(options))
  const text = metrics.expose()
  assert.match(text, /\{name="ComponentFlagz",stage="ALPHA"\} 0/)
  assert.match(text, /\{name="VolumeAttributesClass",stage=""\} 1/)
  assert.doesNotMatch(text, /AtomicFIFO/)
})
