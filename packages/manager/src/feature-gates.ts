/** --feature-gates: what may be set, and what follows. Contract: docs/behaviour/runtime/manager.md, Flags. Pure. */
import { featureGates } from './feature-gate-table.ts'

export { featureGates } from './feature-gate-table.ts'
export type { FeatureGate } from './feature-gate-table.ts'

/** What is wrong with the given settings: an unknown gate, or locked ones set otherwise. */
export function gateProblems(settings: ReadonlyMap<string, boolean>): readonly string[] {
  const problems: string[] = []
  for (const [name, value] of settings) {
    const gate = featureGates.get(name)
    if (gate === undefined) return [...problems, `unrecognized feature gate: ${name}`]
    if (gate.locked && value !== gate.default) {
      problems.push(
        `cannot set feature gate ${name} to ${value}, feature is locked to ${gate.default}`,
      )
    }
  }
  return problems
}

/** One line for each gate that is set and will not exist for long. */
export function gateWarnings(settings: ReadonlyMap<string, boolean>): readonly string[] {
  return [...settings].flatMap(([name, value]) => {
    const stage = featureGates.get(name)?.stage
    if (stage !== 'GA' && stage !== 'DEPRECATED') return []
    const word = stage === 'GA' ? 'GA' : 'deprecated'
    return [
      `Setting ${word} feature gate ${name}=${value}. It will be removed in a future release.`,
    ]
  })
}

/** Every gate's value: its default, or as set; AllAlpha and AllBeta move the defaults of their stage. */
export function gateValues(
  settings: ReadonlyMap<string, boolean>,
): Readonly<Record<string, boolean>> {
  const ofStage: Partial<Record<string, boolean>> = {
    ALPHA: settings.get('AllAlpha'),
    BETA: settings.get('AllBeta'),
  }
  return Object.fromEntries(
    [...featureGates].map(([name, { default: preset, stage }]) => [
      name,
      settings.get(name) ?? ofStage[stage] ?? preset,
    ]),
  )
}

/** As --help lists them: the alpha and beta ones. */
export const listedGates: readonly string[] = [...featureGates]
  .filter(([, { stage }]) => stage === 'ALPHA' || stage === 'BETA')
  .map(([name, gate]) => `kube:${name}=true|false (${gate.stage} - default=${gate.default})`)
