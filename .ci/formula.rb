# Installs a Homebrew formula from archives in a directory and runs its test. Implements the part of Homebrew that the
# formula uses, because Homebrew itself needs a network and a user of its own.
#   ruby .ci/formula.rb FORMULA ARCHIVES PREFIX

require "digest"
require "fileutils"
require "pathname"
require "tmpdir"

FORMULA, ARCHIVES, PREFIX = ARGV.map { |path| Pathname(path).expand_path }

class Pathname
  def install(*files)
    mkpath
    FileUtils.cp(files.flatten, self)
  end
end

class Formula
  @facts = {}

  class << self
    attr_reader :facts, :check

    # Remembers the last formula defined.
    def inherited(formula)
      super
      formula.instance_variable_set(:@facts, {})
      @newest = formula
    end

    attr_reader :newest

    %i[desc homepage license version url sha256].each do |name|
      define_method(name) { |value| facts[name] = value }
    end

    def on_linux = RUBY_PLATFORM.include?("linux") && yield
    def on_macos = RUBY_PLATFORM.include?("darwin") && yield
    def on_arm = RUBY_PLATFORM.match?(/aarch64|arm64/) && yield
    def on_intel = RUBY_PLATFORM.start_with?("x86_64") && yield

    def test(&block)
      @check = block
    end
  end

  attr_reader :testpath

  def bin = PREFIX / "bin"
  def man1 = PREFIX / "share/man/man1"
  def man5 = PREFIX / "share/man/man5"
  def bash_completion = PREFIX / "etc/bash_completion.d"
  def zsh_completion = PREFIX / "share/zsh/site-functions"
  def fish_completion = PREFIX / "share/fish/vendor_completions.d"

  def shell_output(command)
    output = IO.popen(command, &:read)
    abort "#{command}: status #{$?.exitstatus}" unless $?.success?
    output
  end

  def assert_match(expected, output)
    abort "not in the output: #{expected}\n#{output}" unless output.match?(expected)
  end

  def run
    facts = self.class.facts
    missing = %i[desc homepage license version url sha256].reject { |name| facts[name].to_s != "" }
    abort "the formula lacks #{missing.join(", ")}" unless missing.empty?
    archive = ARCHIVES / File.basename(facts[:url])
    abort "#{archive}: wrong checksum" unless Digest::SHA256.file(archive).hexdigest == facts[:sha256]
    Dir.mktmpdir do |folder|
      system("tar", "xzf", archive.to_s, "-C", folder, exception: true)
      # Homebrew changes to the only directory of an archive.
      Dir.chdir(Dir["#{folder}/*"].first) { install }
    end
    Dir.mktmpdir do |folder|
      @testpath = Pathname(folder)
      Dir.chdir(folder) { instance_eval(&self.class.check) }
    end
  end
end

load FORMULA.to_s
Formula.newest.new.run
