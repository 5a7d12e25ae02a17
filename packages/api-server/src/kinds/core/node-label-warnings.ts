/** Warnings about labels of nodes that have another name by now. Contract: defaulting-and-validation.md, "Warnings on create and update". */
import type { StoredOf } from '../../registry/kind-rules.ts'

const DEPRECATED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
    'failure-domain.beta.kubernetes.io/region':
      'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    'failure-domain.beta.kubernetes.io/zone':
      'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    'beta.kubernetes.io/instance-type':
      'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  }),
)

interface Term {
  readonly matchExpressions?: readonly StoredOf<{ key: string; values: readonly string[] }>[]
}

export function nodeLabelDeprecation(key: string): string | undefined {
  return DEPRECATED.get(key)
}

/** Of a selector by labels. */
export function nodeLabelWarnings(
  labels: Readonly<Record<string, string>> | undefined,
  place: (key: string) => string,
): string[] {
  return Object.keys(labels ?? {})
    .toSorted()
    .filter((key) => DEPRECATED.has(key))
    .map((key) => `${place(key)}: ${DEPRECATED.get(key)}`)
}

/** Of the expressions of one term. `faultsOf`: of values, where those that no label can have are not refused. */
export function nodeTermWarnings(
  term: Term | undefined,
  at: string,
  faultsOf: (value: string) => readonly string[] = () => [],
): string[] {
  return (term?.matchExpressions ?? []).flatMap(({ key = '', values = [] }, index) => {
    const place = `${at}.matchExpressions[${index}]`
    const why = DEPRECATED.get(key)
    const faults = values.flatMap((value, position) =>
      faultsOf(value).map((fault) => `${place}.values[${position}]: ${value} is invalid, ${fault}`),
    )
    return why === undefined ? faults : [`${place}.key: ${key} is ${why}`, ...faults]
  })
}
