import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BadEnvFile, valueInEnvFile } from './env-file.ts'

for (const [title, text, expected] of [
  ['a value', "A='one'\nB='two'\n", 'two'],
  ['blank lines, comments and blanks before the name', "\n  # B='no'\n \t B='two' # yes", 'two'],
  ['a value over several lines, as it stands', "A='x'\nB='one\n # $two\n'\n", 'one\n # $two\n'],
  ['the first of two', "B='one'\nB='two'", 'one'],
  ['a name that is not there', "A='one'\n", undefined],
  ['no value', "B=''\n", undefined],
  ['a blank before the value', "B= 'two'\nB='three'\n", undefined],
  ['what comes after the name does not count', "B='two'\nnonsense\n", 'two'],
] as const)
  test(`a file of variables: ${title}`, () => assert.equal(valueInEnvFile(text, 'B'), expected))

for (const text of ['A', 'A=one', "A='one", "A ='one'", "='one'", "A='one' two", 'A="one"'])
  test(`a bad file of variables: ${text}`, () =>
    assert.throws(
      () => valueInEnvFile(`${text}\nB='two'\n`.replace("'two'", 'two'), 'B'),
      BadEnvFile,
    ))
