/** What `gyro check` was asked for. Pure. */
import { parseCidr } from '@gyropilot/schema/validation/ip'
import { gyroErrors } from '../errors.ts'
import { flagsOf, separated } from '../flags.ts'
import { checkFlags } from './check-flags.ts'

type Output = 'text' | 'json' | 'github'
type PodSecurityLevel = 'privileged' | 'baseline' | 'restricted'

export interface CheckOptions {
  /** Files and folders as given; `-` is standard input. */
  readonly inputs: readonly string[]
  readonly namespace: string
  readonly podSecurity: PodSecurityLevel
  readonly ignoreMissingKinds: boolean
  readonly warningsAsErrors: boolean
  readonly serviceRanges: readonly string[]
  readonly output: Output
  readonly help: boolean
}

const USAGE =
  "name files or folders, or - for standard input: 'gyro check FILE...', as in gyro check k8s/"
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

export function checkOptions(args: readonly string[]): CheckOptions {
  const { flags, words } = separated(args, checkFlags)
  const { values } = flagsOf(checkFlags, flags, 'gyro check', invalid)
  const text = (name: string): string => values.get(name) as string
  const help = values.get('help') as boolean
  if (!help && words.length === 0) throw invalid(USAGE)
  if (words.filter((word) => word === '-').length > 1)
    throw invalid('- is given twice: standard input can be read only once')
  const namespace = text('namespace')
  if (!NAMESPACE.test(namespace))
    throw invalid(
      `--namespace=${namespace} is no name of a namespace: use lower case, digits and -`,
    )
  return {
    inputs: words,
    namespace,
    podSecurity: text('pod-security') as PodSecurityLevel,
    ignoreMissingKinds: values.get('ignore-missing-kinds') as boolean,
    warningsAsErrors: values.get('warnings-as-errors') as boolean,
    serviceRanges: rangesOf(text('service-cluster-ip-range')),
    output: text('output') as Output,
    help,
  }
}

function rangesOf(text: string): readonly string[] {
  const ranges = text.split(',')
  const families = ranges.map((range) => parseCidr(range)?.family)
  if (families.includes(undefined) || new Set(families).size < families.length)
    throw invalid(
      `--service-cluster-ip-range=${text} is not one range for a family, as 10.96.0.0/12 or 10.96.0.0/12,fd00::/108`,
    )
  return ranges
}

function invalid(message: string, cause?: unknown): Error {
  return gyroErrors.make('CHECK_ARGUMENT_INVALID', message, { cause })
}
