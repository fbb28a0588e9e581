# A stub of nixpkgs with the functions that packaging/nix/flake.nix uses, to evaluate that flake without a network.
{
  outputs = { self }:
    let
      lib = {
        genAttrs = names: make: builtins.listToAttrs (map (name: { inherit name; value = make name; }) names);
        licenses = { mit = "MIT"; asl20 = "Apache-2.0"; };
      };
      packages = {
        inherit lib;
        rustPlatform.buildRustPackage = attributes: attributes;
        installShellFiles = "installShellFiles";
        mkShell = attributes: attributes;
        cargo = "cargo"; rustc = "rustc"; clippy = "clippy"; rustfmt = "rustfmt";
      };
    in
    { inherit lib; legacyPackages = lib.genAttrs [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ] (system: packages); };
}
