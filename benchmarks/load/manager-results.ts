/** What benchmarks/manager.ts measured, as it is kept in benchmarks/results: one file for each release. */

/** One phase of one life of a manager. */
export interface Phase {
  readonly name: string
  readonly seconds: number
  readonly cpuSeconds: number
  readonly requests: number
  /** At the end of the phase. */
  readonly residentMebibytes: number
  /** Since the process began. */
  readonly peakMebibytes: number
}

export type Figure = Exclude<keyof Phase, 'name'>

export const FIGURES: readonly {
  readonly figure: Figure
  readonly unit: string
  readonly digits: number
}[] = [
  { figure: 'seconds', unit: 's', digits: 1 },
  { figure: 'cpuSeconds', unit: 'CPU s', digits: 2 },
  { figure: 'requests', unit: 'requests', digits: 0 },
  { figure: 'residentMebibytes', unit: 'MiB', digits: 0 },
  { figure: 'peakMebibytes', unit: 'peak MiB', digits: 0 },
]

export interface ManagerResults {
  /** Of Gyropilot. */
  readonly version: string
  readonly date: string
  readonly machine: {
    readonly cores: number
    readonly model: string
    readonly memoryGibibytes: number
    readonly node: string
    /** One minute's average before the first run. */
    readonly load: number
  }
  readonly deployments: number
  readonly replicas: number
  readonly rounds: number
  /** Medians over the rounds. */
  readonly ours: readonly Phase[]
  /** Of the other manager, where there was one; the same phases. */
  readonly theirs?: readonly Phase[]
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}

/** Phase by phase, figure by figure. */
export function medians(rounds: readonly (readonly Phase[])[]): readonly Phase[] {
  const [first = []] = rounds
  return first.map(({ name }) => {
    const same = rounds.map((phases) => phases.find((phase) => phase.name === name)!)
    const of = (figure: Figure, digits: number): number =>
      Number(median(same.map((phase) => phase[figure])).toFixed(digits))
    return {
      name,
      seconds: of('seconds', 2),
      cpuSeconds: of('cpuSeconds', 2),
      requests: of('requests', 0),
      residentMebibytes: of('residentMebibytes', 1),
      peakMebibytes: of('peakMebibytes', 1),
    }
  })
}

/** Ours as a part of theirs; undefined where there is no other, or nothing to divide by. */
export function ratioOf(results: ManagerResults, name: string, figure: Figure): number | undefined {
  const own = results.ours.find((phase) => phase.name === name)?.[figure]
  const other = results.theirs?.find((phase) => phase.name === name)?.[figure]
  return own === undefined || !other ? undefined : own / other
}

/** The table that a person reads. */
export function tableOf(results: ManagerResults): string {
  const { machine, deployments, replicas, rounds, ours, theirs } = results
  const lines = [
    `${machine.cores} cores (${machine.model}), ${machine.memoryGibibytes} GiB, Node ${machine.node}, load ${machine.load}`,
    `${deployments} Deployments x ${replicas}, median of ${rounds}; ours${theirs === undefined ? '' : ', the other, ratio'}`,
  ]
  for (const phase of ours) {
    for (const { figure, unit, digits } of FIGURES) {
      const cells = [
        phase.name.padEnd(8),
        unit.padEnd(9),
        phase[figure].toFixed(digits).padStart(8),
      ]
      const other = theirs?.find(({ name }) => name === phase.name)
      const ratio = ratioOf(results, phase.name, figure)
      if (other !== undefined) cells.push(other[figure].toFixed(digits).padStart(8))
      if (ratio !== undefined) cells.push(ratio.toFixed(2).padStart(6))
      lines.push(cells.join(' '))
    }
  }
  return lines.join('\n')
}
