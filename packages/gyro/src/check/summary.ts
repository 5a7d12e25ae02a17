/** What came of a check, in numbers and in one line. Pure. */
import type { CheckedObject } from './check-documents.ts'
import type { Finding, Severity, Verdict } from './findings.ts'

interface Summary {
  readonly files: number
  readonly objects: number
  readonly accepted: number
  readonly refused: number
  readonly notChecked: number
  readonly errors: number
  readonly warnings: number
}

export function summaryOf(
  files: number,
  objects: readonly CheckedObject[],
  findings: readonly Finding[],
): Summary {
  const withVerdict = (wanted: Verdict): number =>
    objects.filter(({ verdict }) => verdict === wanted).length
  const of = (wanted: Severity): number =>
    findings.filter(({ severity }) => severity === wanted).length
  return {
    files,
    objects: objects.length,
    accepted: withVerdict('accepted'),
    refused: withVerdict('refused'),
    notChecked: withVerdict('not checked'),
    errors: of('error'),
    warnings: of('warning'),
  }
}

/** `7 objects in 3 files: 6 accepted, 1 refused; 2 errors, 1 warning` */
export function summaryText(summary: Summary): string {
  const { files, objects, accepted, refused, notChecked, errors, warnings } = summary
  const verdicts =
    accepted === objects && errors === 0
      ? ['all accepted']
      : [some(accepted, 'accepted'), some(refused, 'refused'), some(notChecked, 'not checked')]
  const found = [
    errors > 0 ? count(errors, 'error') : '',
    warnings > 0 ? count(warnings, 'warning') : '',
  ]
  const parts = [verdicts, found].map((texts) => texts.filter(Boolean).join(', ')).filter(Boolean)
  return `${count(objects, 'object')} in ${count(files, 'file')}: ${parts.join('; ')}`
}

function some(number: number, what: string): string {
  return number === 0 ? '' : `${number} ${what}`
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** 2: something could not be read; 1: something is refused. */
export function exitCodeOf(
  { errors, warnings }: Summary,
  hasUnreadable: boolean,
  warningsAsErrors: boolean,
): number {
  if (hasUnreadable) return 2
  return errors > 0 || (warningsAsErrors && warnings > 0) ? 1 : 0
}
