/** Semantic versions. https://semver.org/spec/v2.0.0.html */
import {
  compareSemanticVersions,
  parseSemanticVersion,
  parseTolerantVersion,
  semanticVersionProblem,
} from '@gyropilot/schema/semantic-version'
import type { SemanticVersion } from '@gyropilot/schema/semantic-version'
import { onePass } from '../costs/cost.ts'
import { declare } from '../checking/signature.ts'
import type { Library } from '../checking/signature.ts'
import { opaqueType } from '../checking/types.ts'
import { EvaluationError, Opaque } from '../values/values.ts'

const TYPE = 'kubernetes.Semver'

class SemverValue extends Opaque implements SemanticVersion {
  readonly typeName = TYPE
  readonly numbers: SemanticVersion['numbers']
  readonly preRelease: readonly string[]

  constructor({ numbers, preRelease }: SemanticVersion) {
    super()
    this.numbers = numbers
    this.preRelease = preRelease
  }

  override equals(other: Opaque): boolean {
    return compareSemanticVersions(this, other as SemverValue) === 0
  }
}

function parse(text: string, normalize = false): SemverValue | undefined {
  const version = normalize ? parseTolerantVersion(text) : parseSemanticVersion(text)
  return version && new SemverValue(version)
}

function semver(text: string, normalize?: boolean): SemverValue {
  const value = parse(text, normalize)
  if (value === undefined)
    throw new EvaluationError(semanticVersionProblem(text, normalize === true))
  return value
}

/** Throws EvaluationError for a text that is none. */
export const semverValue: (text: string) => Opaque = semver

export const SEMVER: Library = {
  constants: [{ name: TYPE, type: opaqueType(TYPE) }],
  overloads: [
    declare(`semver(string): ${TYPE}`, semver, onePass()),
    declare(`semver(string, bool): ${TYPE}`, semver, onePass()),
    declare('isSemver(string): bool', (text: string) => parse(text) !== undefined, onePass()),
    declare(
      'isSemver(string, bool): bool',
      (text: string, normalize: boolean) => parse(text, normalize) !== undefined,
      onePass(),
    ),
    ...['major', 'minor', 'patch'].map((name, index) =>
      declare(`${TYPE}.${name}(): int`, ({ numbers }: SemverValue) => numbers[index]!),
    ),
    declare(
      `${TYPE}.isGreaterThan(${TYPE}): bool`,
      (a: SemverValue, b: SemverValue) => compareSemanticVersions(a, b) > 0,
    ),
    declare(
      `${TYPE}.isLessThan(${TYPE}): bool`,
      (a: SemverValue, b: SemverValue) => compareSemanticVersions(a, b) < 0,
    ),
    declare(`${TYPE}.compareTo(${TYPE}): int`, (a: SemverValue, b: SemverValue) =>
      BigInt(compareSemanticVersions(a, b)),
    ),
  ],
}
